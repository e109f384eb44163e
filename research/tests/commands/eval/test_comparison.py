"""``eval --compare``: what is printed of two kept runs."""

import json
from pathlib import Path

import pytest
from judged_rows import exact, row, run_of
from laboratory import run

from intarsia_research.evaluation.record import Row, write_saved


@pytest.fixture
def kept(tmp_path: Path):
    def keep(name: str, *rows: Row) -> Path:
        path = tmp_path / f"{name}.json"
        write_saved(run_of(*rows), path)
        return path

    return keep


def test_two_runs_are_paired_hole_by_hole(kept):
    first = kept("before", exact("1"), row("2"), row("3"))
    second = kept("after", exact("1"), exact("2"), exact("4"))
    result = run("eval", "--compare", first, second)
    assert result.exit_code == 0, result.stderr
    for words in ("2 holes in common", "before", "after", "+50.0", "0 / 1", "1.000", "noise"):
        assert words in result.stdout, words
    assert "correct on one side only" in result.stdout
    assert "1 holes that only the first side has, 1 that only the second side has" in result.stdout


def test_two_systems_of_one_run_are_paired(kept):
    path = kept("run", row("1", "speculative"), exact("1", "entropy"))
    words = ("--compare", path, path, "--system", "speculative", "--system", "entropy")
    told = json.loads(run("eval", *words, "--json").stdout)
    assert (told["first"]["system"]["name"], told["second"]["system"]["name"]) == (
        "speculative",
        "entropy",
    )
    assert (told["shares"]["exact"]["only_first"], told["shares"]["exact"]["only_second"]) == (0, 1)
    assert told["discordant"][0]["case"] == "1"


def test_one_name_is_for_both_sides(kept):
    first = kept("before", row("1", "speculative"), exact("1", "entropy"))
    second = kept("after", row("1", "speculative"), exact("1", "entropy"))
    words = ("--compare", first, second, "--system", "entropy", "--json")
    told = json.loads(run("eval", *words).stdout)
    assert told["shares"]["exact"]["first"] == told["shares"]["exact"]["second"] == 1
    assert told["discordant"] == []
