"""A backbone without tuning writes lines again after a prompt."""

from pathlib import Path

import pytest
from toy_causal import save_toy, toy_backbone, toy_causal_model, toy_text

from intarsia_research.errors import EvaluationFault
from intarsia_research.peers.plain_writer import PlainWriter, load_plain_writer


def test_a_plain_backbone_writes_after_the_prompt(tmp_path: Path) -> None:
    toy = save_toy(tmp_path / "toy", toy_causal_model("qwen2"))
    text = toy_text(toy)
    writer = PlainWriter(toy_backbone(toy), text)
    prompt = ["a.py\nx = 1\n", "updated/a.py\n"]
    first = writer.write(prompt, "x = 1\n")
    assert first == writer.write(prompt, "")  # a draft makes it faster, and no different


def test_a_model_that_is_none_is_one_line() -> None:
    with pytest.raises(EvaluationFault, match="no-such-model"):
        load_plain_writer("no-such-model")
