"""The commands, with a small checkpoint in a real engine process."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from toy_causal import save_toy, toy_causal_model

from intarsia_research.errors import EvaluationFault
from intarsia_research.team_load.__main__ import main
from intarsia_research.team_load.costs import read_costs


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("model")
    return str(save_toy(folder / "toy", toy_causal_model("qwen2")))


def run(*arguments: object) -> str:
    result = CliRunner().invoke(main, [str(it) for it in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_user_beside_heavy_ones(model: str) -> None:
    shown = run("beside", "--model", model, "--heavy", 2, "--seconds", 9, "--turns", 1)
    assert "beside 2 heavy users: wait for an answer, p95" in shown
    assert "beside them, compared with alone, p95" in shown


def test_real_users_and_simulated_ones(model: str, tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    shown = run("load", "--model", model, "--users", 2, "--seconds", 7, "--costs", path)
    assert [line.split()[0] for line in shown.splitlines()[1:]] == ["real", "simulated", "memory"]
    assert read_costs(path).new_place[0].num_chunks > 0
    rows = run("capacity", "--costs", path, "--users", 1, "--users", 3).splitlines()
    assert [row.split()[0] for row in rows[1:]] == ["1", "3"]


def test_assumed_costs() -> None:
    alone = run("capacity", "--pass-ms", 10, "--passes", 5, "--users", 1).splitlines()[1]
    assert alone.split()[1:4] == ["50", "/", "50"]


def test_a_file_without_costs_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvaluationFault, match="has no costs of fills"):
        read_costs(tmp_path)
