"""The programs that time passes measure every case, and say what they cannot measure."""

import json
from typing import Any

import msgspec
import pytest
import torch
from toy_causal import save_toy, toy_causal_model

from intarsia_research.model_cost import gemma_cost, time_passes
from intarsia_research.model_cost.pass_cost import PassFigures, main


def measured(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code and the lines after the device's."""
    toy = ["--shape", "toy", "--device", "cpu", "--repeats", "1", "--canvas", "4", "8"]
    with torch.random.fork_rng(devices=[]):
        code = gemma_cost.main([*toy, "--batch", "2", *options])
    device, *lines = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (device["what"], device["name"]) == ("device", "cpu")
    return code, lines


def test_each_case_of_each_format_is_a_line_whatever_failed_before(capsys):
    """No device here multiplies float8, and nothing can be read of a context of no tokens."""
    code, lines = measured(capsys, "--context", "0", "40")
    assert code == 0
    cases = ["prefill", ("pass", 4), ("pass", 8)]
    found: dict[str, list[Any]] = {}
    for line in lines:
        if line["what"] == "replay":
            assert line["missing"] == "ModelError: a CUDA graph needs a CUDA device"
            continue
        at = (line["what"], line["canvas"]) if "canvas" in line else line["what"]
        found.setdefault(line["weights"], []).append((line.get("context"), at))
        assert ("missing" in line) == (line["weights"] == "fp8" or line.get("context") == 0)
        assert "median_ms" not in line or line["median_ms"] >= line["lowest_ms"] > 0
    load = (None, "load")
    every = [load, *((context, case) for context in (0, 40) for case in cases)]
    assert found == {"bf16": every, "fp8": [load], "int4": every}
    bf16, int4 = (line["weight_bytes"] for line in lines if "weight_bytes" in line)
    assert int4 < 0.4 * bf16


def test_whole_loops_are_timed_and_end_alike(capsys):
    _, lines = measured(
        capsys, "--weights", "int4", "--context", "40", "--batch", "1", "--steps", "3"
    )
    loops = [line for line in lines if line["what"] == "loop"]
    assert [(line["canvas"], line["graphs"]) for line in loops] == [
        *((4, False), (4, True), (8, False), (8, True))
    ]
    for plain, graphs in zip(loops[::2], loops[1::2], strict=True):
        assert plain["median_ms"] > 0 and plain["notes"] == []
        assert (
            graphs["sum_of_ids"] == plain["sum_of_ids"] and "no CUDA graphs" in graphs["notes"][0]
        )


def test_no_format_or_no_time_is_said_in_lines(capsys):
    code, (load,) = measured(capsys, "--weights", "fp8")
    assert code == 1 and "fp8 needs an NVIDIA card" in load["missing"]
    code, (_, *cases) = measured(capsys, "--weights", "int4", "--context", "8", "--seconds", "0")
    assert code == 0 and len(cases) == 5
    assert {case["missing"] for case in cases} == {"TimeoutError: --seconds are over"}


def test_a_model_that_is_none_is_one_line(capsys: pytest.CaptureFixture[str]):
    assert main(["--model", "none"]) == 1
    shown = capsys.readouterr()
    assert shown.out == "" and "no model 'none'" in shown.err and shown.err.count("\n") == 1


def test_a_causal_model_is_measured_at_every_size(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(time_passes, "NUM_CONTEXT", 128)
    folder = save_toy(tmp_path, toy_causal_model("qwen2"))
    assert main(["--json", "--model", str(folder), "--dtype", "float32"]) == 0
    measured = msgspec.json.decode(capsys.readouterr().out, type=PassFigures)
    assert list(measured.pass_ms) == [1, 8, 16, 32, 64]
    assert all(ms > 0 for ms in measured.pass_ms.values())
    assert measured.repeats >= 8
    assert measured.loaded_bytes > 0
