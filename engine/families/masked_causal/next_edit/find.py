"""Finds the lines that an edit made unlikely, and corrects them.

The text before and after the edit is read. Where the client can repeat the edit as it is, the
model only says whether. Otherwise the lines are ordered by their drop and by what they share with
the edit, and the first ones are written again after the edit as an example. What is written is
returned with the numbers that tell whether to show it; the client decides that.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.next_edit.corrections import (
    Correction,
    CorrectionWriter,
    LineChange,
    Region,
    places_to_correct,
)
from intarsia.engine.families.masked_causal.next_edit.edited_window import (
    EditedWindow,
    WindowLine,
    lines_of,
    read_window,
)
from intarsia.engine.families.masked_causal.next_edit.example import only_adds
from intarsia.engine.families.masked_causal.next_edit.scoring import (
    MIN_DROP,
    LineDrop,
    Replacement,
    best_first,
    gain_of,
    is_filled_alike,
    line_drops,
)
from intarsia.engine.families.masked_causal.next_edit.window_reader import (
    FindHeld,
    ReadWindow,
    WindowReader,
)
from intarsia.engine.families.validate_request import require_bounded_window
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import EditExample, FindNextEdits, NextEdit, NextEdits

_LINES_AFTER = 2  # that a gain counts too

_LINES_AFTER_NEAR = 5  # that must be there too before a place near the edit is corrected

NEAR_TOKENS = 160
"""Tokens below the edit that are read first: most places are there."""

NEAR_DROP = 4.0
"""Nats: a drop near the edit above which no other line is likely to have a larger one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Round:
    """An edit with both windows as they were read."""

    example: EditExample
    window: EditedWindow
    before: ReadWindow
    after: ReadWindow
    control: FillControl


class NextEditFinder:
    """Finds next edits with one backbone; what it reads is held apart from the fills' contexts."""

    def __init__(
        self,
        backbone: CausalBackbone,
        text: FimTokenizer,
        find_held: FindHeld,
        *,
        max_tokens: int,
    ) -> None:
        self._max_tokens = max_tokens  # of a window
        self._text = text
        self.reader = WindowReader(backbone, find_held)
        self._writer = CorrectionWriter(backbone, text)

    def find(self, request: FindNextEdits, control: FillControl) -> NextEdits:
        """Return the answer. Raises Cancelled between two passes, ValueError for a bad request."""
        started_at, reader = time.monotonic(), self.reader
        num_computed, num_reused = reader.num_computed, reader.num_reused
        require_bounded_window(request, max_tokens=self._max_tokens)
        window = read_window(request, self._text)
        if (most := max(len(window.before.ids), len(window.after.ids))) > self._max_tokens:
            limit = f"above the limit of {self._max_tokens}: send less"
            raise ValueError(f"`parts` have {most} tokens, {limit}")
        edits: list[NextEdit] = []
        drops: Sequence[LineDrop] = []
        if request.example is None or not window.is_edited():
            reader.read(window.after.ids, window.first_scored - 1, control)
        else:
            edits = self._repeated(request, request.example, window, control)
            if not (_are_likelier(edits) or request.only_repeats):
                edits, drops = self._found(request, request.example, window, control)
        return NextEdits(
            id=request.id,
            edits=tuple(edits),
            line=drops[0].line.number if drops else edits[0].first_line if edits else None,
            drop=drops[0].drop if drops else 0.0,
            num_prefilled=reader.num_computed - num_computed,
            num_reused=reader.num_reused - num_reused,
            ms=1000 * (time.monotonic() - started_at),
        )

    def _repeated(
        self,
        request: FindNextEdits,
        example: EditExample,
        window: EditedWindow,
        control: FillControl,
    ) -> list[NextEdit]:
        """Return the lines in which the edit can be repeated as it is, the likeliest first."""
        edits: list[NextEdit] = []
        indices = {it.number: i for i, it in enumerate(window.lines)}
        for change in request.repeats:
            first = indices.get(change.first_line, len(window.lines))
            end = first + change.num_lines
            place = window.lines[first:end]
            if len(place) != change.num_lines or not _is_free(place):
                continue
            shown = window.up_to(window.lines[: end + _LINES_AFTER][-1])
            round_ = self._read(example, shown, control)
            new = LineChange(first=0, num_lines=len(place), new_lines=lines_of(change.text))
            gain, gain_before = self._gains(round_, place, new)
            edits.append(
                NextEdit(
                    first_line=change.first_line,
                    num_lines=change.num_lines,
                    text=change.text,
                    drop=0.0,
                    gain=gain,
                    gain_before=gain_before,
                    log_p=0.0,
                    is_agreed=True,
                )
            )
        likeliest = sorted(edits, key=lambda it: (it.gain <= 0, it.gain_before - it.gain))
        return likeliest[: request.max_places]

    def _found(
        self,
        request: FindNextEdits,
        example: EditExample,
        window: EditedWindow,
        control: FillControl,
    ) -> tuple[list[NextEdit], Sequence[LineDrop]]:
        """Return the corrected lines with the largest drops, and all drops; near the edit first."""
        edits: list[NextEdit] = []
        drops: Sequence[LineDrop] = []
        near = window.beginning(NEAR_TOKENS) if request.direction == "below" else None
        for part in (near, window) if near is not None else (window,):
            round_ = self._read(example, part, control)
            drops = line_drops(part, round_.before, round_.after, control)
            drops = best_first(drops, part.after.text, example)
            if part is window or _is_found_near(part, drops):
                edits = self._correct(round_, drops, most=request.max_places)
            if _are_likelier(edits):
                break
        return edits, drops

    def _read(self, example: EditExample, window: EditedWindow, control: FillControl) -> _Round:
        first = window.first_scored - 1
        return _Round(
            example=example,
            window=window,
            before=self.reader.read(window.before.ids, first, control),
            after=self.reader.read(window.after.ids, first, control),
            control=control,
        )

    def _correct(self, round_: _Round, drops: Sequence[LineDrop], *, most: int) -> list[NextEdit]:
        """Return the corrections of the first places, each place once."""
        # an example that only adds lines shows the line above them, too
        num_above = 1 if only_adds(round_.example) else 0
        likely = [found for found in drops if found.drop >= MIN_DROP]
        places = places_to_correct(likely, round_.window.lines, num_above, most=most)
        edits = [self._correct_region(round_, found, region) for found, region in places]
        return [edit for edit in edits if edit is not None]

    def _correct_region(
        self, round_: _Round, found: LineDrop, region: Sequence[WindowLine]
    ) -> NextEdit | None:
        """Return the correction of a region, None if there is none."""
        windows, text, control = round_.window, self._text, round_.control
        lines = [_text_of(windows, it) for it in region]
        spot = Region(lines=lines, place=found.line.number - region[0].number)
        best: tuple[float, Correction] | None = None
        for correction in self._writer.write(spot, round_.example, control):
            replacement = _replacement(windows, region, correction.change, is_before=False)
            gain = gain_of(replacement, windows.after, round_.after, text, control)
            # After the example and after the window: both judge an answer, so their sum decides.
            if best is None or gain + correction.log_p > best[0] + best[1].log_p:
                best = gain, correction
        if best is None:
            return None
        gain, change = best[0], best[1].change
        after, before = (
            _replacement(windows, region, change, is_before=is_before)
            for is_before in (False, True)
        )
        gain_before = gain_of(before, windows.before, round_.before, text, control)
        return NextEdit(
            first_line=region[0].number + change.first,
            num_lines=change.num_lines,
            text="".join(change.new_lines),
            drop=found.drop,
            gain=gain,
            gain_before=gain_before,
            log_p=best[1].log_p,
            is_agreed=gain > max(0.0, gain_before)
            and is_filled_alike(after, windows.after, round_.after, text, control),
        )

    def _gains(
        self, round_: _Round, region: Sequence[WindowLine], change: LineChange
    ) -> tuple[float, float]:
        """Return the gain of a change after the edit, and before it."""
        windows, text, control = round_.window, self._text, round_.control
        after, before = (
            _replacement(windows, region, change, is_before=is_before)
            for is_before in (False, True)
        )
        gain = gain_of(after, windows.after, round_.after, text, control)
        return gain, gain_of(before, windows.before, round_.before, text, control)


def _text_of(window: EditedWindow, line: WindowLine) -> str:
    return window.after.text[line.start : line.end].decode("utf-8", "replace")


def _is_free(place: Sequence[WindowLine]) -> bool:
    """Return whether lines may change and are next to each other."""
    return all(it.may_change for it in place) and all(
        one.is_followed_by(other) for one, other in pairwise(place)
    )


def _are_likelier(edits: Sequence[NextEdit]) -> bool:
    """Return whether one of the corrections gains, and by the edit."""
    return any(edit.gain > max(0.0, edit.gain_before) for edit in edits)


def _replacement(
    window: EditedWindow, region: Sequence[WindowLine], change: LineChange, *, is_before: bool
) -> Replacement:
    """Return where the lines of a change are in one of both windows, and what replaces them.

    The lines after them that are scored too go on as far as nothing changed between the windows.
    """
    shift = region[0].start_before - region[0].start if is_before else 0
    edges = [*(line.start for line in region), region[-1].end]
    start, end = edges[change.first], edges[change.first + change.num_lines]
    scored_end = end
    for line in [line for line in window.lines if line.start >= end][:_LINES_AFTER]:
        if line.start != scored_end:
            break
        scored_end = line.end
    return Replacement(
        start=start + shift,
        end=end + shift,
        new="".join(change.new_lines).encode("utf-8", "replace"),
        scored_end=scored_end + shift,
    )


def _is_found_near(window: EditedWindow, drops: Sequence[LineDrop]) -> bool:
    """Return whether a place is clear enough, with the lines after it, to be corrected now."""
    if not drops or drops[0].drop < NEAR_DROP:
        return False
    return drops[0].line in window.lines[:-_LINES_AFTER_NEAR]
