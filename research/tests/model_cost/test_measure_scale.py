"""The program measures every case at toy size, and a case that fails costs no other."""

from pathlib import Path

import pytest
import torch

from intarsia.engine.families.diffusion_gemma.backbone.passes import DirectPasses
from intarsia_research.model_cost import __main__
from intarsia_research.model_cost.figure_lines import (
    FirstPass,
    LoadFigures,
    Machine,
    Missing,
    Pass,
    Prefill,
    Step,
    read_lines,
)

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")


def measure(path: Path, *more: str) -> list[object]:
    words = ["--shape", "toy", "--device", "cpu", "--repeats", "1", "--json-lines", str(path)]
    few = ["--canvas", "4,8", "--context", "40", "--batch", "1,2"]
    assert __main__.main([*words, *few, *more]) == 0
    return list(read_lines(path))


def test_every_case_has_its_line(tmp_path: Path) -> None:
    lines = measure(tmp_path / "figures.jsonl")
    kinds = [type(line) for line in lines]
    assert kinds[:5] == [Machine, LoadFigures, Prefill, FirstPass, FirstPass]
    passes = [line for line in lines if isinstance(line, Pass)]
    assert [(line.canvas, line.batch) for line in passes] == [(4, 1), (4, 2), (8, 1), (8, 2)]
    assert all(line.context == 40 and 4 <= line.experts_touched <= 16 for line in passes)
    assert [line.canvas for line in lines if isinstance(line, Step)] == [4, 8]
    assert [line.num_held for line in lines if isinstance(line, FirstPass)] == [0, 24]
    assert not [line for line in lines if isinstance(line, Missing)]


def test_a_case_that_runs_out_of_memory_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = DirectPasses.run

    def run_small(
        passes: DirectPasses, ids: torch.Tensor, seen: torch.Tensor | None
    ) -> torch.Tensor:
        if ids.shape[0] > 1:
            raise torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 9 GiB")
        return run(passes, ids, seen)

    monkeypatch.setattr(DirectPasses, "run", run_small)
    lines = measure(tmp_path / "figures.jsonl")
    missing = [line for line in lines if isinstance(line, Missing)]
    assert [line.case for line in missing] == [
        "bf16, context 40, direct, 2 canvases of 4",
        "bf16, context 40, direct, 2 canvases of 8",
    ]
    assert missing[0].reason == "OutOfMemoryError: CUDA out of memory. Tried to allocate 9 GiB"
    assert [line.canvas for line in lines if isinstance(line, Pass)] == [4, 8]


def test_what_cannot_run_here_is_named_and_the_rest_measured(tmp_path: Path) -> None:
    lines = measure(tmp_path / "figures.jsonl", "--weights", "fp8,int4", "--way", "graph,fixed")
    missing = [line for line in lines if isinstance(line, Missing)]
    assert [line.case for line in missing] == [
        "fp8, load",
        "int4, context 40, graph, canvases of 4",
        "int4, context 40, graph, canvases of 8",
    ]
    passes = [line for line in lines if isinstance(line, Pass)]
    assert {(line.weights, line.way) for line in passes} == {("int4", "fixed")}
    assert len(passes) == 4


def test_when_the_time_is_up_the_rest_is_named_and_left(tmp_path: Path) -> None:
    *_, last = measure(tmp_path / "figures.jsonl", "--seconds", "0")
    assert last == Missing(case="bf16, all that follows", reason="the time is up")


def test_a_word_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        __main__.main(["--weights", "fp3"])
    assert "weights are bf16, fp8, int4, got fp3" in capsys.readouterr().err
