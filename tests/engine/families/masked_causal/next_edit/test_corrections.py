"""What may replace a line: the model's answer, and the edit's own replacement, each once."""

from collections.abc import Sequence

import pytest
import torch
from cancel_when import cancelling

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.next_edit import corrections
from intarsia.engine.families.masked_causal.next_edit.corrections import (
    CorrectionWriter,
    LineChange,
    Region,
    Rewriter,
    Rewritten,
)
from intarsia.engine.families.masked_causal.next_edit.example import substituted
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.fill_control import NO_CONTROL, FillControl
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


OTHER = LineChange(first=1, num_lines=1, new_lines=["c = 3\n"])


@pytest.mark.parametrize(
    ("answer", "example", "expected"),
    [
        ("a = 1\nb = old(2)\n", RENAME, [(BY_WORDS, -9.0)]),  # copied by the model
        ("a = 1\nb = new(2)\n", RENAME, [(BY_WORDS, -1.0)]),
        ("a = 1\nc = 3\n", RENAME, [(OTHER, -1.0), (BY_WORDS, -9.0)]),
        ("a = 1\nb = old(2)\n", EditExample(before="p = 1\n", after="q = 1\n"), []),
    ],
)
def test_the_models_answer_comes_first_and_the_edits_replacement_once(
    backbone: CausalBackbone,
    text: FimTokenizer,
    answer: str,
    example: EditExample,
    expected: list[tuple[LineChange, float]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    writer = Writer(text, answer)
    monkeypatch.setattr(corrections, "Rewriter", lambda *_: writer)
    found = CorrectionWriter(backbone, text).write(REGION, example, NO_CONTROL)
    assert [(it.change, it.log_p) for it in found] == expected
    name = "new" if example is RENAME else "old"
    assert writer.drafts[0] == f"a = 1\nb = {name}(2)\n"


@pytest.mark.parametrize(
    ("before", "after", "line", "expected"),
    [
        ("a = old(1)\n", "a = new(1)\n", "b = old(x, old)\n", "b = new(x, new)\n"),
        ("a = old(1)\n", "a = new(1)\n", "b = older(x)\n", None),
        ("def f(a):\n", "def f(a) -> None:\n", "def g(b, c):\n", "def g(b, c) -> None:\n"),
        ("def f(a):\n", "def f(a) -> None:\n", "def g(b) -> None:\n", None),
        ("x = y  # type: ignore\n", "x = y\n", "p = q  # type: ignore\n", "p = q\n"),
        ("u = o.url as URL;\n", "u = o.url!;\n", "v = p.url as URL;\n", "v = p.url!;\n"),
        ('f(["a", "b"])\n', 'f(("a", "b"))\n', '"c": ["d"],\n', '"c": ("d"),\n'),
        ("r = get(a)\n", "r = await get(a)\n", "r = get(b)\n", "r = await get(b)\n"),
        ("int *p\n", "int p\n", "int *p, *q\n", "int p, *q\n"),
        (
            "for (j = 0; j < 128; j++) {\n",
            "int limit = 128;\nfor (j = 0; j < limit; j++) {\n",
            "for (k = 0; k < 128; k++) {\n",
            "for (k = 0; k < limit; k++) {\n",
        ),
        ("a\nb\n", "a\nx\nb\n", "a\n", None),
        ("a\nb\n", "", "a\n", None),
        ("", "a\n", "b\n", None),
        ("a(1)\n", "b(1)\n", "c(1)\n", None),
        ("é = 1\n", "è = 1\n", "f(é)\n", "f(è)\n"),
        ("a = 1\n", "a\\1 = 1\n", "a = 2\n", "a\\1 = 2\n"),
    ],
)
def test_replacements_of_the_edit_are_repeated(
    before: str, after: str, line: str, expected: str | None
) -> None:
    found = substituted(line, EditExample(before=before, after=after))
    assert found[:1] == ([] if expected is None else [expected])


def test_several_replacements_are_also_made_one_by_one() -> None:
    edit = EditExample(before="from parser import Old\n", after="from shell import New\n")
    assert substituted("parser = Old()\n", edit) == [
        "shell = New()\n",
        "shell = Old()\n",
        "parser = New()\n",
    ]
    assert substituted("x = Old()\n", edit) == ["x = New()\n"]


NUM = 20
CPU = torch.device("cpu")


def rewritten(
    backbone: CausalBackbone,
    text: FimTokenizer,
    draft: Sequence[int],
    control: FillControl = NO_CONTROL,
) -> Rewritten:
    cache = backbone.new_cache()
    prompt = text.encode("original:\na = 1\nupdated:\n")
    rewriter = Rewriter(backbone, frozenset(range(256, 300)))
    return rewriter.write(cache, prompt, draft, control)


@torch.inference_mode()
def one_by_one(backbone: CausalBackbone, text: FimTokenizer, num: int) -> tuple[list[int], float]:
    """Return greedy tokens, each from a pass over all before it, and their log-probability."""
    ids, total = text.encode("original:\na = 1\nupdated:\n"), 0.0
    start = len(ids)
    for _ in range(num):
        rows = frozen_rows(ids, start=0, device=backbone.device)
        logits = backbone.logits(backbone.forward(rows, backbone.new_cache()))[-1].log_softmax(-1)
        ids.append(int(logits.argmax()))
        total += float(logits.max())
    return ids[start:], total


def test_any_draft_gives_the_greedy_text(backbone: CausalBackbone, text: FimTokenizer) -> None:
    plain = rewritten(backbone, text, [])
    exact, log_p = one_by_one(backbone, text, len(plain.ids))
    assert plain.ids == exact
    good, half = exact, [*exact[:9], 7, 7, *exact[11:]]
    for draft in (good, half, [5] * 30):
        found = rewritten(backbone, text, draft)
        shared = min(len(found.ids), len(exact))
        assert found.ids[:shared] == exact[:shared]
        if len(found.ids) == len(exact):
            assert found.log_p == pytest.approx(plain.log_p, abs=1e-3)
    assert log_p < 0


def test_it_ends_between_two_passes(backbone: CausalBackbone, text: FimTokenizer) -> None:
    seen: list[bool] = []
    control = cancelling(lambda: seen.append(True) or len(seen) > 3)
    with pytest.raises(Cancelled):
        rewritten(backbone, text, [], control=control)


def test_a_text_without_an_end_is_cut_off(backbone: CausalBackbone, text: FimTokenizer) -> None:
    found = Rewriter(backbone, frozenset()).write(
        backbone.new_cache(), text.encode("a = "), [], NO_CONTROL
    )
    assert 0 < len(found.ids) < 200


def test_the_likelihood_of_a_text_is_that_of_its_tokens_one_by_one(
    backbone: CausalBackbone, text: FimTokenizer
) -> None:
    ends = frozenset(range(256, 280))
    prompt, ids = text.encode("original:\na = 1\nupdated:\n"), text.encode("a = 2\n" * 9)
    found = Rewriter(backbone, ends).log_probability(backbone.new_cache(), prompt, ids, NO_CONTROL)
    rows = frozen_rows([*prompt, *ids], start=0, device=CPU)
    with torch.inference_mode():
        hidden = backbone.forward(rows, backbone.new_cache())
        likely = backbone.logits(hidden[len(prompt) - 1 :]).log_softmax(-1)
    exact = sum(float(likely[i, token]) for i, token in enumerate(ids))
    assert found == pytest.approx(exact + float(likely[-1, sorted(ends)].max()), abs=1e-2)
