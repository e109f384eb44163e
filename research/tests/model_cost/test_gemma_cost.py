"""The programs that time passes measure every case, and say what they cannot measure."""

import json

import msgspec
import pytest
import torch
from toy_causal import save_toy, toy_causal_model

from intarsia_research.model_cost import gemma_cost, time_passes
from intarsia_research.model_cost.pass_cost import PassFigures, main


@pytest.mark.parametrize("weights", ["bf16", "int4"])
def test_each_case_is_a_line(weights, capsys):
    toy = ["--shape", "toy", "--device", "cpu", "--weights", weights, "--repeats", "1"]
    cases = ["--context", "40", "--canvas", "4", "8", "--batch", "2"]
    with torch.random.fork_rng(devices=[]):
        assert gemma_cost.main([*toy, *cases]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["what"], line.get("canvas")) for line in lines] == [
        ("prefill", None),
        ("pass", 4),
        ("pass", 8),
    ]
    assert all(line["median_ms"] >= line["lowest_ms"] > 0 for line in lines)


def test_fp8_without_a_card_for_it_is_one_line(capsys):
    with pytest.raises(SystemExit):
        gemma_cost.main(["--shape", "toy", "--device", "cpu", "--weights", "fp8"])
    assert "fp8 needs an NVIDIA card" in capsys.readouterr().err


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
