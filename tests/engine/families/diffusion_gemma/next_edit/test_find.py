"""Whole answers: from a trained checkpoint what they should be, from a random one that they hold
together whatever the model writes."""

from collections import Counter
from itertools import permutations
from typing import Any

import pytest
import torch
from cancel_when import cancelling
from naming_diffusion_gemma import NAMES
from toy_causal_fill import run_fill

from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.families.diffusion_gemma.next_edit import find
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import (
    EditExample,
    Fill,
    FindNextEdits,
    NextEdit,
    NextEdits,
    TextPart,
)

# transformers' own import of a torch module warns.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")

OTHER = "pass end\n"  # a line without a name
FILES = ("{other}use {name}\n{other}", "use {name}\n{other}{other}")

ABOVE = "x = 1\n" * 3
BELOW = "".join(f"y{i} = old({i})\n" for i in range(6))


def kept(lines: str, *, may_change: bool = True) -> TextPart:
    return TextPart(before=lines, after=lines, may_change=may_change)


def renamed(old: str, new: str, lines: str, direction: str) -> FindNextEdits:
    """Return a request after the definition of a name was edited, in its parts' order."""
    example = EditExample(before=f"def {old}\n", after=f"def {new}\n")
    edit = TextPart(before=example.before, after=example.after, may_change=False)
    parts = (edit, kept(lines)) if direction == "below" else (kept(lines), edit)
    return FindNextEdits(id=1, parts=parts, example=example, direction=direction, max_places=1)


def request(**changes: Any) -> FindNextEdits:
    """Return a request for the random checkpoint."""
    fields = {
        "parts": (
            kept(ABOVE),
            TextPart(before="def old(x):\n", after="def new(x):\n", may_change=False),
            kept(BELOW),
        ),
        "example": EditExample(before="def old(x):\n", after="def new(x):\n"),
        "max_places": 3,
    }
    return FindNextEdits(id=4, **{**fields, **changes})


def places_and_edits(
    filler: DiffusionGemmaFiller, direction: str
) -> list[tuple[bool, NextEdit | None, str]]:
    """Return for each rename in each file: is the place right, the edit there, the right text."""
    found = []
    for old, new in permutations(NAMES, 2):
        for file in FILES:
            lines = file.format(name=old, other=OTHER)
            line = lines.splitlines().index(f"use {old}") + (direction == "below")
            answer = filler.find_next_edits(renamed(old, new, lines, direction), NO_CONTROL)
            edit = next((edit for edit in answer.edits if edit.first_line == line), None)
            found.append((answer.line == line, edit, f"use {new}\n"))
    return found


@pytest.mark.parametrize("direction", ["below", "above"])
def test_the_line_that_depends_on_the_edit_has_the_largest_drop(
    trained: DiffusionGemmaFiller, direction: str
) -> None:
    """By chance it would have in a third of the cases."""
    found = places_and_edits(trained, direction)
    assert sum(is_right for is_right, _, _ in found) >= len(found) - 3
    written = [(edit, text) for _, edit, text in found if edit is not None]
    right = [edit for edit, text in written if edit.text == text]
    assert len(right) >= len(found) // 2
    assert sum(edit.gain > edit.gain_before for edit in right) >= len(right) - 1
    assert sum(edit.is_agreed for edit in right) >= len(right) // 2
    assert not any(edit.is_agreed and edit.gain <= 0 for edit, _ in written)


def test_lines_that_do_not_depend_on_the_edit_stay(trained: DiffusionGemmaFiller) -> None:
    requests = [renamed(old, new, OTHER * 2, "below") for old, new in permutations(NAMES, 2)]
    answers = [trained.find_next_edits(asked, NO_CONTROL) for asked in requests]
    assert sum(answer.drop < find.MIN_DROP for answer in answers) >= len(answers) - 1
    assert sum(answer.edits == () for answer in answers) >= len(answers) - 1


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


def check_direction(filler: DiffusionGemmaFiller, direction: str) -> None:
    places = range(4, 10) if direction == "below" else range(3)
    asked = request(direction=direction)
    answer = filler.find_next_edits(asked, NO_CONTROL)
    check(answer, asked, places=places)
    assert filler.find_next_edits(asked, NO_CONTROL).edits == answer.edits


@pytest.mark.parametrize("direction", ["below", "above"])
def test_an_answer_holds_together_and_comes_again(
    filler: DiffusionGemmaFiller, direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    check_direction(filler, direction)


@pytest.mark.parametrize("direction", ["below", "above"])
def test_a_window_of_many_canvases_is_scored_whole(
    filler: DiffusionGemmaFiller, direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    lines = "".join(f"z{i} = old(z{i}) + {i}\n" for i in range(20))
    edit = request().parts[1]
    parts = (edit, kept(lines)) if direction == "below" else (kept(lines), edit)
    answer = filler.find_next_edits(request(parts=parts, direction=direction), NO_CONTROL)
    first = int(direction == "below")
    check(answer, request(parts=parts), places=range(first, first + 20))
    # each line stays a candidate: one that may change alone is the place, wherever it is
    for at in (0, 9, 19):
        lines_of = lines.splitlines(keepends=True)
        above, place, below = "".join(lines_of[:at]), lines_of[at], "".join(lines_of[at + 1 :])
        split = (kept(above, may_change=False), kept(place), kept(below, may_change=False))
        parts = (edit, *split) if direction == "below" else (*split, edit)
        answer = filler.find_next_edits(
            request(parts=parts, direction=direction, max_places=0), NO_CONTROL
        )
        assert answer.line in (at + first, None)


def test_before_and_after_the_edit_the_same_canvases_are_predicted(
    filler: DiffusionGemmaFiller, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[int]] = []
    predict = filler._backbone.predict

    def watched(canvas: TokenCanvas, self_conditioning: torch.Tensor | None) -> torch.Tensor:
        seen.append(canvas.ids.tolist())
        assert self_conditioning is None
        return predict(canvas, self_conditioning)

    monkeypatch.setattr(filler._backbone, "predict", watched)
    above, edit, below = request().parts
    parts = (above, edit, kept(below.before * 2))
    filler.find_next_edits(request(parts=parts, max_places=0), NO_CONTROL)
    num_blocks = len(seen) // 8
    assert num_blocks >= 2, "four passes over each block, before the edit and after it"
    for block in range(num_blocks):
        passes = seen[8 * block : 8 * block + 8]
        assert passes[:4] == passes[4:]
        for tokens in zip(*passes[:4], strict=True):
            assert sorted(Counter(tokens).values()) == [1, 3], "each token is hidden once"


def test_dismissed_lines_stay_as_they_are(filler: DiffusionGemmaFiller) -> None:
    above, edit, below = request().parts
    closed = kept(below.before, may_change=False)
    answer = filler.find_next_edits(request(parts=(above, edit, closed)), NO_CONTROL)
    assert (answer.edits, answer.line, answer.drop) == ((), None, 0.0)


def test_an_earlier_round_is_reused(filler: DiffusionGemmaFiller) -> None:
    first = filler.find_next_edits(request(), NO_CONTROL)
    second = filler.find_next_edits(request(), NO_CONTROL)
    assert second.num_prefilled == 0 < first.num_prefilled
    assert second.edits == first.edits


def test_a_text_that_was_read_before_is_known(filler: DiffusionGemmaFiller) -> None:
    parts = tuple(kept(part.before) for part in request().parts)
    only_read = filler.find_next_edits(request(parts=parts, example=None), NO_CONTROL)
    assert (only_read.edits, only_read.line) == ((), None)
    assert only_read.num_prefilled > 80
    cold = filler.find_next_edits(request(), NO_CONTROL)
    assert cold.num_reused > cold.num_prefilled > 0


def test_it_can_be_cancelled_between_any_two_passes_and_asked_again(
    filler: DiffusionGemmaFiller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    exact = filler.find_next_edits(request(), NO_CONTROL).edits
    num_passes = count_passes(filler, monkeypatch)
    for most in (0, 1, 5, 17, 23, 40, 64):
        num_passes.clear()
        left = iter(range(most))
        with pytest.raises(Cancelled):
            filler.find_next_edits(
                request(), cancelling(lambda left=left: next(left, None) is None)
            )  # type: ignore[misc]
        assert len(num_passes) <= most
    assert filler.find_next_edits(request(), NO_CONTROL).edits == exact


def count_passes(filler: DiffusionGemmaFiller, monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Return a list that grows by one with each forward pass of a canvas."""
    passes: list[None] = []
    run = filler._backbone.predict_many

    def counted(ids: torch.Tensor, self_conditioning: torch.Tensor | None) -> torch.Tensor:
        passes.append(None)
        return run(ids, self_conditioning)

    monkeypatch.setattr(filler._backbone, "predict_many", counted)
    return passes


def test_fills_keep_their_context(
    filler: DiffusionGemmaFiller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    fill = Fill(id=7, prefix=ABOVE + "def new(x):\n    ", suffix=BELOW, max_tokens=12)
    first = run_fill(filler, fill)
    alone = run_fill(filler, fill)
    num_held = filler.cached_tokens()
    assert filler.find_next_edits(request(), NO_CONTROL).edits
    after = run_fill(filler, fill)
    assert (after.num_prefilled, filler.cached_tokens()) == (0, num_held)
    assert after.tokens == alone.tokens
    assert first.text == after.text


def test_a_fill_within_it_changes_neither(
    filler: DiffusionGemmaFiller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    exact = filler.find_next_edits(request(), NO_CONTROL).edits
    fill = Fill(id=7, prefix="other text = ", suffix="", max_tokens=4)
    alone = run_fill(filler, fill)
    texts = []
    control = FillControl(checkpoint=lambda: texts.append(run_fill(filler, fill)))
    assert filler.find_next_edits(request(), control).edits == exact
    assert len(texts) > 30
    assert {it.text for it in texts} == {alone.text}
    assert {it.num_prefilled for it in texts} == {0}, "its own context was there each time"


def test_an_edit_that_adds_lines_may_add_some_before_the_place(
    filler: DiffusionGemmaFiller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    edit = TextPart(before="", after="    a = 1\n", may_change=False)
    example = EditExample(before="def f():\ny0\n", after="def f():\n    a = 1\ny0\n")
    asked = request(parts=(kept("def f():\n"), edit, kept(BELOW)), example=example)
    check(filler.find_next_edits(asked, NO_CONTROL), asked, places=range(2, 8))


def test_lines_longer_than_a_canvas_are_left_out(
    filler: DiffusionGemmaFiller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    long = "x = [" + "1, " * 60 + "]\n"
    edit = request().parts[1]
    answer = filler.find_next_edits(request(parts=(edit, kept(long * 2))), NO_CONTROL)
    assert (answer.edits, answer.line) == ((), None)
    parts = (edit, kept(long + BELOW + long))
    answer = filler.find_next_edits(request(parts=parts), NO_CONTROL)
    check(answer, request(parts=parts), places=range(2, 8))


@pytest.mark.parametrize(
    "lines", ["é = 'ü€'\n", "🙂🙂\n", "\n\n\n", "\r\n \t\n", "x\ud800y\n", "no end"]
)
def test_odd_text_is_scored(
    filler: DiffusionGemmaFiller, lines: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "MIN_DROP", 0.0)
    edit = request().parts[1]
    for direction in ("below", "above"):
        parts = (edit, kept(lines)) if direction == "below" else (kept(lines + "\n"), edit)
        answer = filler.find_next_edits(request(parts=parts, direction=direction), NO_CONTROL)
        assert (answer.line is None) <= (answer.edits == ())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": ()}, "`parts` is empty"),
        ({"parts": (kept(BELOW * 400),)}, "above the limit of 4032: send less"),
        ({"example": EditExample(before=BELOW * 400, after="")}, "above the limit of 4032"),
        ({"parts": (kept("x = 1"), kept("y\n"))}, "must end at a line end"),
    ],
)
def test_a_bad_request_is_refused(
    filler: DiffusionGemmaFiller, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        filler.find_next_edits(request(**changes), NO_CONTROL)
