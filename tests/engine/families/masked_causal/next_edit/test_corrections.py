"""What may replace a line: the model's answer, and the edit's own replacement, each once."""

import pytest

from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.next_edit import corrections
from intarsia.engine.families.masked_causal.next_edit.corrections import (
    Correction,
    CorrectionWriter,
    Region,
    Rewritten,
)
from intarsia.engine.families.masked_causal.next_edit.region import LineChange
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import EditExample

RENAME = EditExample(before="def old(x):\n", after="def new(x):\n")
REGION = Region(lines=["a = 1\n", "b = old(2)\n"], place=1)
BY_WORDS = LineChange(first=1, num_lines=1, new_lines=["b = new(2)\n"])


class Writer:
    """Answers with a text, in the place of a rewriter, and says that all others are unlikely."""

    def __init__(self, text: FimTokenizer, answer: str) -> None:
        self.answer = Rewritten(ids=text.encode(answer), log_p=-1.0)
        self.drafts: list[str] = []
        self._text = text

    def write(self, cache: object, prompt: object, draft: list[int], *_: object, **__: object):
        self.drafts.append("".join(self._text.pieces(draft, num_given=0)))
        return self.answer

    def read(self, *_: object, **__: object) -> None: ...

    def log_probability(self, *_: object, **__: object) -> float:
        return -9.0


def written(
    backbone: CausalBackbone,
    text: FimTokenizer,
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
    example: EditExample = RENAME,
) -> tuple[list[Correction], str]:
    writer = Writer(text, answer)
    monkeypatch.setattr(corrections, "Rewriter", lambda *_: writer)
    found = CorrectionWriter(backbone, text).write(REGION, example, NO_CONTROL)
    return list(found), writer.drafts[0]


def test_a_line_that_the_model_copies_still_gets_the_edits_replacement(
    backbone: CausalBackbone, text: FimTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, draft = written(backbone, text, "a = 1\nb = old(2)\n", monkeypatch)
    assert found == [Correction(change=BY_WORDS, log_p=-9.0)]
    assert draft == "a = 1\nb = new(2)\n"


def test_an_answer_that_is_the_replacement_is_given_once(
    backbone: CausalBackbone, text: FimTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = written(backbone, text, "a = 1\nb = new(2)\n", monkeypatch)
    assert found == [Correction(change=BY_WORDS, log_p=-1.0)]


def test_another_answer_is_given_first(
    backbone: CausalBackbone, text: FimTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = written(backbone, text, "a = 1\nc = 3\n", monkeypatch)
    other = LineChange(first=1, num_lines=1, new_lines=["c = 3\n"])
    assert [it.change for it in found] == [other, BY_WORDS]


def test_an_edit_that_replaces_nothing_there_leaves_the_models_answer_alone(
    backbone: CausalBackbone, text: FimTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = EditExample(before="p = 1\n", after="q = 1\n")
    found, draft = written(backbone, text, "a = 1\nb = old(2)\n", monkeypatch, example)
    assert (found, draft) == ([], "a = 1\nb = old(2)\n")


def test_real_answers_come_with_their_likelihoods(
    backbone: CausalBackbone, text: FimTokenizer
) -> None:
    found = list(CorrectionWriter(backbone, text).write(REGION, RENAME, NO_CONTROL))
    assert BY_WORDS in [it.change for it in found]
    assert all(it.log_p < 0 for it in found)
