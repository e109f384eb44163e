"""Holes in this package's own source go through the real filler, cold and with the context held."""

from pathlib import Path

import msgspec
import pytest
from toy_causal import save_toy, toy_causal_model
from toy_causal_fill import run_fill

from intarsia.engine.config import EngineConfig
from intarsia.engine.service.load_filler import load_filler
from intarsia_research.model_cost import fill_cost
from intarsia_research.model_cost.figure_lines import Holes, read_lines
from intarsia_research.model_cost.line_holes import line_holes
from intarsia_research.model_cost.random_backbone import DEFAULT_CONFIG, write_random_backbone


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return save_toy(tmp_path / "toy", toy_causal_model("qwen2"))


def test_holes_are_measured_cold_and_with_their_context_held(toy: Path, tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    words = ["--model", str(toy), "--device", "cpu", "--holes", "3", "--json-lines", str(file)]
    assert fill_cost.main(words) == 0
    cold, held = read_lines(file)
    assert isinstance(cold, Holes) and isinstance(held, Holes)
    assert (cold.context_is_held, held.context_is_held) == (False, True)
    assert (cold.num_holes, cold.has_real_weights, cold.model) == (3, True, "toy")
    assert cold.p95 >= cold.p50 > cold.prefill_p50 > held.prefill_p50


def test_a_model_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert fill_cost.main(["--model", "/nowhere/at/all", "--device", "cpu"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_random_weights_load_as_the_converted_model_does(toy: Path, tmp_path: Path) -> None:
    small = {
        **DEFAULT_CONFIG,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "vocab_size": 600,
    }
    folder = write_random_backbone(tmp_path / "random", toy / "tokenizer.json", small)
    filler = load_filler(
        EngineConfig(model=str(folder), device="cpu"), str(folder), lambda stage, fraction: None
    )
    assert filler.info.name == "random"
    assert filler.info.family == "masked block diffusion on a causal backbone"
    # a random line end as the first token would stop a single-line hole: these have no stop
    holes = [msgspec.structs.replace(hole, stop=()) for hole in line_holes(6)]
    assert all(run_fill(filler, hole).num_forwards > 0 for hole in holes)


def test_the_holes_are_single_lines_of_different_files() -> None:
    holes = line_holes(20)
    assert len({hole.prefix[-200:] for hole in holes}) == 20
    assert all(hole.suffix.startswith("\n") and hole.stop == ("\n",) for hole in holes)
    assert all(hole.prefix.rsplit("\n", 1)[-1].strip() == "" for hole in holes)
