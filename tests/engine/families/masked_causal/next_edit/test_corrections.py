"""What may replace a line, what is read for its score, and its gain."""

import math
from collections.abc import Sequence

import msgspec
import pytest
import torch
from cancel_when import cancelling
from toy_causal import toy_backbone

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK, CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.next_edit import corrections, scoring
from intarsia.engine.families.masked_causal.next_edit.corrections import (
    CorrectionWriter,
    LineChange,
    Region,
    Rewriter,
    Rewritten,
)
from intarsia.engine.families.masked_causal.next_edit.edited_window import (
    EditedWindow,
    read_window,
    window_below,
)
from intarsia.engine.families.masked_causal.next_edit.example import substituted
from intarsia.engine.families.masked_causal.next_edit.scoring import (
    Replacement,
    gain_of,
    line_drops,
)
from intarsia.engine.families.masked_causal.next_edit.window_reader import WindowReader
from intarsia.engine.families.masked_causal.score_texts import TextScorer
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, ScoreTexts, TextPart

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
    backbone, text, answer, example, expected, monkeypatch
):
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
def test_replacements_of_the_edit_are_repeated(before, after, line, expected):
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


CPU = torch.device("cpu")


def rewritten(backbone, text, draft, control=NO_CONTROL) -> Rewritten:
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
        rows = frozen_rows(ids, start=0)
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


def test_the_likelihood_of_a_text_is_that_of_its_tokens_one_by_one(backbone, text):
    ends = frozenset(range(256, 280))
    prompt, ids = text.encode("original:\na = 1\nupdated:\n"), text.encode("a = 2\n" * 9)
    found = Rewriter(backbone, ends).log_probability(backbone.new_cache(), prompt, ids, NO_CONTROL)
    rows = frozen_rows([*prompt, *ids], start=0)
    with torch.inference_mode():
        hidden = backbone.forward(rows, backbone.new_cache())
        likely = backbone.logits(hidden[len(prompt) - 1 :]).log_softmax(-1)
    exact = sum(float(likely[i, token]) for i, token in enumerate(ids))
    assert found == pytest.approx(exact + float(likely[-1, sorted(ends)].max()), abs=1e-2)


ABOVE = "import os\n" * 8
BELOW = "".join(f"    y{i} = old(x, {i})\n" for i in range(8))
REQUEST = FindNextEdits(
    id=1,
    parts=(
        TextPart(before=ABOVE, after=ABOVE, may_change=False),
        TextPart(before="def old(x):\n", after="def new(x):\n", may_change=False),
        TextPart(before=BELOW, after=BELOW, may_change=True),
    ),
    example=EditExample(before="def old(x):\n", after="def new(x):\n"),
)


def nothing_held(_: Sequence[int]) -> tuple[KvCache | None, int]:
    return None, 0


@pytest.fixture
def window(text: FimTokenizer) -> EditedWindow:
    return read_window(REQUEST, text)


@torch.inference_mode()
def log_p(backbone: CausalBackbone, ids: Sequence[int]) -> list[float]:
    """Return the log-probability of each token but the first, from one pass over all."""
    rows = frozen_rows(list(ids), start=0)
    logits = backbone.logits(backbone.forward(rows, backbone.new_cache())).log_softmax(-1)
    return [float(logits[i - 1, token]) for i, token in enumerate(ids) if i]


def test_what_an_earlier_window_has_is_not_read_again(backbone, window):
    reader, ids = WindowReader(backbone, nothing_held), window.before.ids
    first = window.first_scored - 1
    one = reader.read(ids, first, NO_CONTROL)
    assert reader.num_computed == len(ids)
    two = reader.read(window.after.ids, first, NO_CONTROL)
    assert reader.num_computed == len(ids) + len(window.after.ids) - window.first_scored
    again = reader.read(ids, first, NO_CONTROL)
    assert torch.equal(again.hidden, one.hidden)
    assert reader.num_reused == window.first_scored + len(ids)
    fresh = WindowReader(backbone, nothing_held).read(window.after.ids, first, NO_CONTROL)
    torch.testing.assert_close(two.hidden, fresh.hidden)


def test_the_beginning_of_a_fills_context_is_copied(backbone: CausalBackbone, window: EditedWindow):
    ids = list(window.after.ids)
    whole = WindowReader(backbone, nothing_held).read(ids, 50, NO_CONTROL)
    reader = WindowReader(backbone, lambda asked: (whole.cache, len(asked)))
    copied = reader.read(ids, 50, NO_CONTROL)
    assert (reader.num_reused, reader.num_computed) == (50, len(ids) - 50)
    torch.testing.assert_close(copied.hidden, whole.hidden)


def test_reading_ends_within_a_chunk(backbone: CausalBackbone, window: EditedWindow) -> None:
    seen: list[bool] = []
    reader = WindowReader(backbone, nothing_held)
    with pytest.raises(Cancelled):
        reader.read(window.after.ids, 10, cancelling(lambda: seen.append(True) or len(seen) > 2))
    assert len(seen) == 3
    num_read = reader.num_computed
    reader.read(window.after.ids, 10, NO_CONTROL)  # the first two chunks are known
    assert reader.num_computed == num_read + len(window.after.ids) - 2 * SHORT_CHUNK
    assert len(window.after.ids) > 3 * SHORT_CHUNK  # so that there was more to read


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_a_drop_is_the_largest_loss_of_a_token(backbone, window, share, monkeypatch):
    monkeypatch.setattr(scoring, "_SHARE_SCORED", share)
    monkeypatch.setattr(scoring, "_MIN_SCORED", 4)
    reader, first = WindowReader(backbone, nothing_held), window.first_scored - 1
    before = reader.read(window.before.ids, first, NO_CONTROL)
    after = reader.read(window.after.ids, first, NO_CONTROL)
    found = line_drops(window, before, after, NO_CONTROL)
    old, new = log_p(backbone, window.before.ids), log_p(backbone, window.after.ids)
    shift = len(window.after.ids) - len(window.before.ids)  # equal tokens follow the edit
    exact: dict[int, float] = {}
    for line in window.lines:
        tokens = range(window.after.token_at(line.start), window.after.token_at(line.end - 1) + 1)
        exact[line.number] = max(old[t - shift - 1] - new[t - 1] for t in tokens)
    assert [it.drop for it in found] == sorted((it.drop for it in found), reverse=True)
    for it in found:
        assert it.drop <= exact[it.line.number] + 1e-4
        if share == 1.0:
            assert it.drop == pytest.approx(exact[it.line.number], abs=1e-4)
    if share == 1.0:
        assert {it.line.number for it in found} == {n for n, drop in exact.items() if drop > 0}


@pytest.mark.parametrize("form", [{"dtype": torch.bfloat16}, {"matrices": "int8"}])
def test_drops_are_found_in_a_model_that_computes_in_half_precision(toy, window, form):
    """Its matrices take no rows of another precision."""
    backbone = toy_backbone(toy, **form)
    reader, first = WindowReader(backbone, nothing_held), window.first_scored - 1
    before = reader.read(window.before.ids, first, NO_CONTROL)
    after = reader.read(window.after.ids, first, NO_CONTROL)
    assert line_drops(window, before, after, NO_CONTROL)


@pytest.mark.parametrize("new", [b"    y3 = new(x, 3)\n", b"", b"    a = 1\n    b = 2\n"])
def test_a_gain_is_the_difference_of_two_log_probabilities(backbone, window, text, new):
    read = WindowReader(backbone, nothing_held).read(
        window.after.ids, window.first_scored - 1, NO_CONTROL
    )
    line, last = window.lines[3], window.lines[5]
    gain = gain_of(
        Replacement(start=line.start, end=line.end, new=new, scored_end=last.end),
        window.after,
        read,
        text,
        NO_CONTROL,
    )
    start = window.after.token_at(line.start)
    kept, old = list(window.after.ids[:start]), window.after.text[line.start : last.end].decode()
    replaced = new.decode() + window.after.text[line.end : last.end].decode()
    sums = [
        sum(log_p(backbone, [*kept, *text.encode(part)])[start - 1 :]) for part in (replaced, old)
    ]
    assert gain == pytest.approx(sums[0] - sums[1], abs=2e-3)


SCORED = ScoreTexts(
    id=7,
    prefix="import os\n\n\ndef area(width, height):\n    return ",
    present="width * height)",
    texts=("width * height", "(width * height)", "width * height)", "height * width * 2"),
    suffix="\n\nx\n",
)


@pytest.fixture
def scorer(backbone: CausalBackbone, text: FimTokenizer) -> TextScorer:
    return TextScorer(text, WindowReader(backbone, nothing_held), max_tokens=500)


def whole(text: FimTokenizer, request: ScoreTexts, middle: str) -> list[int]:
    return window_below(text, request.prefix + middle + request.suffix)


def test_a_gain_is_the_difference_of_whole_texts(scorer, backbone, text):
    answer = scorer.score(SCORED, NO_CONTROL)
    present = sum(log_p(backbone, whole(text, SCORED, SCORED.present)))
    expected = [sum(log_p(backbone, whole(text, SCORED, it))) - present for it in SCORED.texts]
    assert answer.gains == pytest.approx(expected, abs=1e-3)
    assert answer.gains[2] == 0.0
    assert answer.id == 7


def test_text_far_after_the_change_is_not_scored(scorer, backbone, text):
    long = ScoreTexts(
        id=1, prefix="x = ", present="1", texts=("2", "f("), suffix="\n" + "y = x\n" * 40
    )
    ids = whole(text, long, "1")
    counted = []
    forward = backbone.forward
    backbone.forward = lambda rows, cache: counted.append(len(rows.ids)) or forward(rows, cache)
    try:
        gains = scorer.score(long, NO_CONTROL).gains
    finally:
        del backbone.forward
    assert all(gain is not None and math.isfinite(gain) for gain in gains)
    assert sum(counted) < len(ids) + 2 * 40


def test_only_the_texts_that_begin_likeliest_are_scored(scorer: TextScorer):
    every = scorer.score(SCORED, NO_CONTROL).gains
    some = scorer.score(msgspec.structs.replace(SCORED, max_scored=2), NO_CONTROL).gains
    assert some.count(None) == 2
    known = [(one, other) for one, other in zip(some, every, strict=True) if one is not None]
    assert [one for one, _ in known] == pytest.approx([other for _, other in known], abs=1e-4)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"texts": ()}, "the number of texts"),
        ({"max_scored": 0}, "max_scored"),
        ({"prefix": "x = 1\n" * 400}, "the number of tokens"),
    ],
)
def test_a_bad_request_is_named(scorer: TextScorer, fields: dict[str, object], named: str):
    with pytest.raises(ValueError, match=named):
        scorer.score(msgspec.structs.replace(SCORED, **fields), NO_CONTROL)
