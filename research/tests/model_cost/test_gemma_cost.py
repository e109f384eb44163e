"""The GPU script measures every case of a toy on the CPU, and says why a case has no figures."""

import json

import pytest
import torch

from intarsia_research.model_cost.gemma_cost import main

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")


@pytest.mark.parametrize("weights", ["bf16", "int4"])
def test_each_case_is_a_line(weights, capsys):
    toy = ["--shape", "toy", "--device", "cpu", "--weights", weights, "--repeats", "1"]
    cases = ["--context", "40", "--canvas", "4", "8", "--batch", "2"]
    with torch.random.fork_rng(devices=[]):
        assert main([*toy, *cases]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["what"], line.get("canvas")) for line in lines] == [
        ("prefill", None),
        ("pass", 4),
        ("pass", 8),
    ]
    assert all(line["median_ms"] >= line["lowest_ms"] > 0 for line in lines)


def test_fp8_without_a_card_for_it_is_one_line(capsys):
    with pytest.raises(SystemExit):
        main(["--shape", "toy", "--device", "cpu", "--weights", "fp8"])
    assert "fp8 needs an NVIDIA card" in capsys.readouterr().err
