"""Cuts the window around an edit that the engine is shown, before and after the edit.

The window begins where that of an earlier fill or round began, if that is not too far, so that the
engine has read it already. It has LF line ends, and its lines are those of the text after the edit.
Where the edit can be made again is told with it, for the engine to judge; for another file, this
is all that it is asked.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from intarsia.engine.ipc.messages import EditExample, FindNextEdits, LineChange, TextPart
from intarsia.infill.canvas import (
    Window,
    budget_chars,
    kept_start,
    prefix_start,
    suffix_end,
    window_of,
)
from intarsia.infill.languages import Language
from intarsia.infill.next_edit.repeats import Repeat, repeats
from intarsia.infill.next_edit.settled_edit import Hunk, LineRange, hunks_between, plain_lines
from intarsia.infill.syntax.text import line_start, line_starts, next_line_start
from intarsia.infill.syntax.tree import parse

ABOVE_TOKENS = 500
BELOW_TOKENS = 480
HELD_TOKENS = 900
"""The start of a longer window is kept too, if it was read. The engine holds two windows of it."""

MAX_WINDOW_CHARS = 6_500
"""A window is cut below the last line that fits, but never within the lines that changed last."""

MAX_REPEATS = 3
"""Places that are judged in one window, those that have most in common with the edit."""

LINES_BESIDE = 8
"""Lines of the edited file that are shown around the edit, before a window of another file."""

ABOVE_ELSEWHERE_TOKENS = 200
"""Tokens that are shown above a place in another file."""

_LINES_BELOW_PLACE = 4

Direction: TypeAlias = Literal["below", "above"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EditedText:
    """A text before and after an edit, and after the offers that were accepted since.

    ``newest`` are the lines of ``after`` that changed last. ``silent`` are lines of ``after`` where
    the user wants no offer.
    """

    before: str
    after: str
    edit: Hunk
    newest: LineRange
    silent: Sequence[LineRange] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class NextEditPlan:
    """A window of ``text`` from line ``first_line`` on. ``window`` is for the plans that follow."""

    text: str
    language: Language
    first_line: int
    parts: tuple[TextPart, ...]
    example: EditExample | None
    window: Window
    free_lines: frozenset[int] = frozenset()  # of the text, where something may change
    edit_line: int = 0  # of the text: the first changed line of the window
    repeats: tuple[Repeat, ...] = ()  # in lines of the text, most in common with the edit first
    is_elsewhere: bool = False  # the text is another file than the edited one

    def request(
        self, direction: Direction = "below", model: str | None = None, *, max_places: int = 1
    ) -> FindNextEdits:
        """Return the message for the engine, which numbers its requests itself."""
        is_below = direction == "below"
        found = [it for it in self.repeats if (it.first >= self.edit_line) == is_below]
        return FindNextEdits(
            id=0,
            parts=self.parts,
            example=self.example,
            repeats=tuple(
                LineChange(
                    first_line=it.first - self.first_line, num_lines=it.end - it.first, text=it.text
                )
                for it in found[:MAX_REPEATS]
            ),
            only_repeats=self.is_elsewhere,
            direction=direction,
            max_places=max_places,
            model=model,
        )

    def may_change(self, lines: LineRange) -> bool:
        """Whether an offer may replace these lines, or insert at them."""
        if lines.start == lines.end:
            return not {lines.start, lines.start - 1}.isdisjoint(self.free_lines)
        return self.free_lines.issuperset(range(lines.start, lines.end))

    def has_lines(self, direction: Direction) -> bool:
        """Whether there is a line in this direction that may change."""
        if direction == "below":
            return any(line >= self.edit_line for line in self.free_lines)
        return any(line < self.edit_line for line in self.free_lines)


def plan_next_edits(
    edited: EditedText, language: Language, earlier: Sequence[Window] = ()
) -> NextEditPlan:
    """Plan a search for what an edit has left to change.

    ``earlier`` are windows of this text or its older versions, the newest first.
    """
    old, new = plain_lines(edited.before), plain_lines(edited.after)
    window = _lines_around(edited.after, edited.newest, language, earlier)
    hunks = hunks_between(old, new)
    window = _with_whole_hunks(window, hunks)
    parts = list(_parts(new, window, hunks))
    split = list(_with_silent(parts, new, window, edited.silent))
    free, line, first_changed = set[int](), window.start, None
    for part in split:
        lines = range(line, line := line + _num_lines(part.after))
        if part.may_change:
            free.update(lines)
        elif part.before != part.after and first_changed is None:
            first_changed = lines.start
    example = _example(old, edited.edit)
    return NextEditPlan(
        text=edited.after,
        language=language,
        first_line=window.start,
        parts=tuple(split),
        example=example,
        window=_window(edited.after, window),
        free_lines=frozenset(free),
        edit_line=edited.newest.start if first_changed is None else first_changed,
        repeats=_repeats(new, window, example, free),
    )


def plan_elsewhere(
    edited: EditedText, text: str, language: Language, silent: Sequence[LineRange] = ()
) -> NextEditPlan | None:
    """Plan to make the edit again in another file, None where it fits in no line of it.

    The engine reads the edit with the lines beside it, and then the other file up to the places.
    ``silent`` are lines of ``text`` where the user wants no offer.
    """
    old, new, lines = plain_lines(edited.before), plain_lines(edited.after), plain_lines(text)
    example = _example(old, edited.edit)
    quiet = _lines_in(silent)
    free = set(range(len(lines))) - quiet
    found = _repeats(lines, LineRange(start=0, end=len(lines)), example, free)
    if not found:
        return None
    offsets, best = line_offsets(text), found[0]
    start = prefix_start(text, offsets[best.first], ABOVE_ELSEWHERE_TOKENS, parse(text, language))
    first = min(bisect_left(offsets, start), best.first)
    window = LineRange(start=first, end=min(best.end + _LINES_BELOW_PLACE, len(lines)))
    newest = edited.newest
    beside = LineRange(
        start=max(0, newest.start - LINES_BESIDE), end=min(newest.end + LINES_BESIDE, len(new))
    )
    hunks = hunks_between(old, new)
    shown = [
        TextPart(before=_ended(it.before), after=_ended(it.after), may_change=False)
        for it in _parts(new, _with_whole_hunks(beside, hunks), hunks)
    ]
    other = _unchanged(lines[window.start : window.end])
    return NextEditPlan(
        text=text,
        language=language,
        first_line=window.start - sum(_num_lines(it.after) for it in (*shown, _GAP)),
        parts=(*shown, _GAP, *_with_silent([other], lines, window, silent)),
        example=example,
        window=_window(text, window),
        free_lines=frozenset(free & set(range(window.start, window.end))),
        edit_line=window.start,
        repeats=tuple(it for it in found if window.start <= it.first and it.end <= window.end),
        is_elsewhere=True,
    )


_GAP = TextPart(before="\n\n", after="\n\n", may_change=False)


def _repeats(
    lines: Sequence[str], window: LineRange, example: EditExample, free: Collection[int]
) -> tuple[Repeat, ...]:
    """Return where the edit can be repeated in a window of lines, in lines of the text."""
    found = repeats(lines[window.start : window.end], example)
    moved = [replace(it, first=it.first + window.start, end=it.end + window.start) for it in found]
    return tuple(it for it in moved if all(line in free for line in range(it.first, it.end)))


def plan_reading(
    text: str, line: int, language: Language, earlier: Sequence[Window] = ()
) -> NextEditPlan:
    """Plan to have the text around a line read, so that it is known before the next edit."""
    window = _lines_around(text, LineRange(start=line, end=line), language, earlier)
    shown = "".join(plain_lines(text)[window.start : window.end])
    return NextEditPlan(
        text=text,
        language=language,
        first_line=window.start,
        parts=(TextPart(before=shown, after=shown, may_change=True),),
        example=None,
        window=_window(text, window),
    )


def line_offsets(text: str) -> list[int]:
    """Return where each line of ``plain_lines`` starts, and the end of the text."""
    offsets = line_starts(text)
    return offsets if offsets[-1] == len(text) else [*offsets, len(text)]


def _lines_around(
    text: str, lines: LineRange, language: Language, earlier: Sequence[Window]
) -> LineRange:
    """Return the lines of the window around some lines, cut at whole lines."""
    offsets = line_offsets(text)
    syntax = parse(text, language)
    first = offsets[min(lines.start, len(offsets) - 1)]
    last = offsets[min(lines.end, len(offsets) - 1)]
    start = kept_start(text, first, ABOVE_TOKENS, earlier)
    if start is None:
        start = kept_start(text, first, HELD_TOKENS, earlier)
    if start is None:
        start = prefix_start(text, first, ABOVE_TOKENS, syntax)
    if line_start(text, start) != start:
        start = min(next_line_start(text, start), first)
    end = suffix_end(text, last, BELOW_TOKENS, syntax)
    most = start + max(MAX_WINDOW_CHARS, last - start)
    end = min(end, most)
    if end < len(text):
        end = max(line_start(text, end), last)
    return LineRange(start=bisect_left(offsets, start), end=bisect_left(offsets, end))


def _with_whole_hunks(window: LineRange, hunks: Sequence[Hunk]) -> LineRange:
    """Return the window, extended where it would cut a change in two."""
    start, end = window.start, window.end
    for hunk in hunks:
        if hunk.new_start < start < hunk.new_end:
            start = hunk.new_start
        if hunk.new_start < end < hunk.new_end:
            end = hunk.new_end
    return LineRange(start=start, end=end)


def _parts(new: Sequence[str], window: LineRange, hunks: Sequence[Hunk]) -> Iterator[TextPart]:
    """Yield the parts of the window: changed and unchanged lines in turn."""
    at = window.start
    for hunk in hunks:
        is_above = hunk.new_start < window.start and hunk.new_end <= window.start
        is_below = hunk.new_end > window.end and hunk.new_start >= window.end
        if is_above or is_below:
            continue
        if at < hunk.new_start:
            yield _unchanged(new[at : hunk.new_start])
        yield TextPart(
            before="".join(hunk.old_lines), after="".join(hunk.new_lines), may_change=False
        )
        at = hunk.new_end
    if at < window.end:
        yield _unchanged(new[at : window.end])


def _unchanged(lines: Sequence[str], *, may_change: bool = True) -> TextPart:
    text = "".join(lines)
    return TextPart(before=text, after=text, may_change=may_change)


def _with_silent(
    parts: Sequence[TextPart], new: Sequence[str], window: LineRange, silent: Sequence[LineRange]
) -> Iterator[TextPart]:
    """Yield the parts, split where the user wants no offer."""
    quiet = _lines_in(silent)
    line = window.start
    for part in parts:
        lines = range(line, line := line + _num_lines(part.after))
        if not part.may_change or quiet.isdisjoint(lines):
            yield part
            continue
        first = lines.start
        for at in (*lines[1:], lines.stop):
            if at == lines.stop or (at in quiet) != (first in quiet):
                yield _unchanged(new[first:at], may_change=first not in quiet)
                first = at


def _lines_in(ranges: Sequence[LineRange]) -> set[int]:
    """Return the lines of some ranges; of an insertion, the line that it goes before."""
    return {line for it in ranges for line in range(it.start, max(it.end, it.start + 1))}


def _num_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _example(old: Sequence[str], edit: Hunk) -> EditExample:
    """Return the edit as an example; one that only adds lines has its neighbours in both texts."""
    above: Sequence[str] = ()
    below: Sequence[str] = ()
    if not edit.old_lines:
        above = old[max(0, edit.start - 1) : edit.start]
        below = old[edit.start : edit.start + 1]
    return EditExample(
        before=_ended(*above, *edit.old_lines, *below),
        after=_ended(*above, *edit.new_lines, *below),
    )


def _ended(*lines: str) -> str:
    return "".join(line.removesuffix("\n") + "\n" for line in lines)


def _window(text: str, lines: LineRange) -> Window:
    offsets = line_offsets(text)
    start, end = offsets[lines.start], offsets[lines.end]
    return window_of(text, start, min(end, start + budget_chars(ABOVE_TOKENS)), "")
