"""Whole answers, from the toy model: they hold together whatever the model writes."""

from pathlib import Path

import msgspec
import pytest
from cancel_when import cancelling
from toy_causal import toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.next_edit import find
from intarsia.engine.families.masked_causal.next_edit.find import NextEditFinder
from intarsia.engine.families.masked_causal.next_edit.scoring import changed_text
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, LineChange, NextEdits, TextPart

ABOVE = "x = 1\n" * 3
BELOW = "".join(f"y{i} = old({i})\n" for i in range(6))


def request(**changes: object) -> FindNextEdits:
    fields = {
        "parts": (
            TextPart(before=ABOVE, after=ABOVE, may_change=True),
            TextPart(before="def old(x):\n", after="def new(x):\n", may_change=False),
            TextPart(before=BELOW, after=BELOW, may_change=True),
        ),
        "example": EditExample(before="def old(x):\n", after="def new(x):\n"),
        "max_places": 3,
    }
    return FindNextEdits(id=4, **{**fields, **changes})


@pytest.fixture
def finder(backbone, text, monkeypatch) -> NextEditFinder:
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    return NextEditFinder(backbone, text, lambda _: (None, 0), max_tokens=300)


def check(answer: NextEdits, asked: FindNextEdits, *, places: range) -> None:
    lines = "".join(part.after for part in asked.parts).splitlines(keepends=True)
    assert answer.id == 4
    assert answer.line in places
    assert len(answer.edits) <= asked.max_places
    for edit in answer.edits:
        end = edit.first_line + edit.num_lines
        assert places.start <= edit.first_line <= end <= places.stop
        assert edit.text != "".join(lines[edit.first_line : end])
        assert edit.log_p <= 0 < edit.drop


@pytest.mark.parametrize(("direction", "places"), [("below", range(4, 10)), ("above", range(3))])
def test_edits_are_found(finder: NextEditFinder, direction: str, places: range) -> None:
    asked = request(direction=direction)
    check(finder.find(asked, NO_CONTROL), asked, places=places)


@pytest.mark.parametrize("is_clear", [True, False])
def test_lines_near_the_edit_are_tried_first(finder: NextEditFinder, is_clear: bool, monkeypatch):
    asked = request()
    whole = finder.find(asked, NO_CONTROL)
    monkeypatch.setattr(find, "NEAR_TOKENS", 60)
    monkeypatch.setattr(find, "_is_found_near", lambda window, drops: is_clear)
    found = finder.find(asked, NO_CONTROL)
    check(found, asked, places=range(4, 10))
    is_convincing = any(edit.gain > max(0.0, edit.gain_before) for edit in found.edits)
    if not (is_clear and is_convincing):
        assert (found.edits, found.line, found.drop) == (whole.edits, whole.line, whole.drop)


@pytest.mark.parametrize("direction", ["below", "above"])
@pytest.mark.parametrize("is_likelier", [True, False])
def test_where_the_edit_fits_as_it_is_it_comes_first(
    finder: NextEditFinder, direction: str, is_likelier: bool, monkeypatch
):
    """The model makes up a line only where none of these is likelier."""
    other, edit = "z = 1\n", TextPart(before="f(old, 0)\n", after="f(new, 0)\n", may_change=False)
    uses = TextPart(
        before=f"g(old, 1)\n{other}" * 2, after=f"g(old, 1)\n{other}" * 2, may_change=True
    )
    parts = (edit, uses) if direction == "below" else (uses, edit)
    example = EditExample(before=edit.before, after=edit.after)
    first = 1 if direction == "below" else 0
    where = [
        LineChange(first_line=at, num_lines=1, text="g(new, 1)\n") for at in (first, first + 2)
    ]
    outside = LineChange(first_line=5 - first * 5, num_lines=1, text="g(new, 2)\n")
    asked = request(
        parts=parts,
        example=example,
        repeats=(*where, outside, LineChange(first_line=99, num_lines=1, text="")),
        direction=direction,
        max_places=2,
    )
    monkeypatch.setattr(find, "_are_likelier", lambda edits: is_likelier)
    found = finder.find(asked, NO_CONTROL)
    repeated = sorted((it.first_line, it.text) for it in found.edits if it.drop == 0.0)
    expected = [(it.first_line, it.text) for it in where] if is_likelier else []
    assert (repeated, found.line in range(first, first + 4)) == (expected, True)
    likelier = [(it.gain <= 0, it.gain_before - it.gain) for it in found.edits if is_likelier]
    assert likelier == sorted(likelier)
    only = finder.find(msgspec.structs.replace(asked, only_repeats=True), NO_CONTROL)
    assert sorted((it.first_line, it.text) for it in only.edits) == [
        (it.first_line, it.text) for it in where
    ]


def test_dismissed_lines_stay_as_they_are(finder: NextEditFinder) -> None:
    above, edit, below = request().parts
    closed = TextPart(before=below.before, after=below.after, may_change=False)
    answer = finder.find(request(parts=(above, edit, closed)), NO_CONTROL)
    assert (answer.edits, answer.line, answer.drop) == ((), None, 0.0)


def test_an_earlier_round_is_reused(finder: NextEditFinder) -> None:
    first = finder.find(request(), NO_CONTROL)
    second = finder.find(request(), NO_CONTROL)
    assert second.num_prefilled == 0 < first.num_prefilled
    assert second.edits == first.edits


def test_a_text_that_was_read_before_is_known(finder: NextEditFinder) -> None:
    parts = tuple(
        TextPart(before=part.before, after=part.before, may_change=part.may_change)
        for part in request().parts
    )
    only_read = finder.find(request(parts=parts, example=None), NO_CONTROL)
    assert (only_read.edits, only_read.line) == ((), None)
    assert finder.find(request(), NO_CONTROL).num_reused >= only_read.num_prefilled


def test_it_can_be_cancelled_at_any_point_and_asked_again(finder: NextEditFinder) -> None:
    exact = finder.find(request(), NO_CONTROL).edits
    for most in range(1, 400, 23):
        left = iter(range(most))
        control = cancelling(lambda left=left: next(left, None) is None)
        try:
            finder.find(request(), control)
        except Cancelled:
            continue
        break
    assert finder.find(request(), NO_CONTROL).edits == exact


def test_a_window_that_is_too_long_is_refused(finder: NextEditFinder) -> None:
    above, edit, below = request().parts
    long = TextPart(before=below.before * 9, after=below.after * 9, may_change=True)
    with pytest.raises(ValueError, match="above the limit of 300: send less"):
        finder.find(request(parts=(above, edit, long)), NO_CONTROL)


def test_contexts_and_fills_are_as_without_it(toy: Path, drafter: Path, monkeypatch):
    """A fill runs at each of the first checkpoints, as the worker lets it."""
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    filler, calm = (toy_filler(toy, drafter, max_context_tokens=512) for _ in range(2))
    fill = toy_fill(prefix=ABOVE * 9 + "def f(")
    run_fill(filler, fill)
    texts: list[str] = []

    def checkpoint() -> None:
        if len(texts) < 3:
            again = run_fill(filler, fill)
            assert again.num_prefilled == 0
            texts.append(again.text)

    found = filler.find_next_edits(request(), FillControl(checkpoint=checkpoint))
    assert found.edits == calm.find_next_edits(request(), NO_CONTROL).edits
    assert texts == [run_fill(calm, fill).text] * 3
    assert filler.cached_tokens() == calm.cached_tokens()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"a = old(x)\n", b"a = new(x)\n", (b"a = ", b"new", b"(x)\n")),
        (b"a = one\n", b"a = once\n", (b"a = ", b"once", b"\n")),
        (b"f(a)\n", b"f(a, b)\n", (b"f(a", b", b", b")\n")),
        (b"", b"x\n", (b"", b"x\n", b"")),
        (b"a\nb\n", b"a\nc\n", (b"a\n", b"c", b"\n")),
        (b"a b\n", b"b\n", (b"", b"", b"b\n")),
    ],
)
def test_the_changed_text_is_of_whole_words(old, new, expected):
    assert changed_text(old, new) == expected
