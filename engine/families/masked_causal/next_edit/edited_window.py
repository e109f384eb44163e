"""Reads a request for next edits as two windows of token ids, aligned line by line.

One window is the text before the edit, the other is the text after it. Where nothing changed, a
token of one has its counterpart in the other. Offsets are in bytes of UTF-8, as tokens are.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.ipc.messages import FindNextEdits, TextPart


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends; no other character than a newline ends a line."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])


def with_newline(lines: str) -> str:
    """Return whole lines; no text stays none."""
    return lines if not lines or lines.endswith("\n") else lines + "\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowLine:
    """A line that did not change: its number in the window after the edit, and its offsets."""

    number: int
    start: int
    end: int
    start_before: int  # in the window before the edit
    may_change: bool

    @property
    def end_before(self) -> int:
        """Where the line ends in the window before the edit."""
        return self.start_before + self.end - self.start

    def is_followed_by(self, other: "WindowLine") -> bool:
        """Whether the other line is the next one, before the edit and after it."""
        return self.end == other.start and self.end_before == other.start_before


@dataclass(frozen=True, kw_only=True, slots=True)
class EditedLines:
    """The window before and after an edit, and where it begins in both.

    ``lines`` are those on the requested side of the edit that did not change, in order.
    """

    before: bytes
    after: bytes
    lines: Sequence[WindowLine]
    edit_start: int  # the window's end if nothing changed


def read_lines(request: FindNextEdits) -> EditedLines:
    """Return the lines of a request. Raises ValueError if a part but the last ends in a line."""
    parts = request.parts
    if any(text and not text.endswith("\n") for it in parts[:-1] for text in (it.before, it.after)):
        raise ValueError("each of `parts` must end at a line end, the last one excepted")
    changed = (i for i, part in enumerate(parts) if part.before != part.after)
    edit = next(changed, len(parts))
    if request.direction == "above":
        lines = _unchanged_lines(parts[:edit], first_part=0)
    else:
        lines = _unchanged_lines(parts, first_part=edit if edit < len(parts) else 0)
    return EditedLines(
        before=as_bytes("".join(part.before for part in parts)),
        after=as_bytes("".join(part.after for part in parts)),
        lines=lines,
        edit_start=len(as_bytes("".join(part.after for part in parts[:edit]))),
    )


def as_bytes(text: str) -> bytes:
    """Return a text as UTF-8. What has no form in it, half a surrogate pair, becomes "?"."""
    return text.encode("utf-8", "replace")


def _unchanged_lines(parts: Sequence[TextPart], *, first_part: int) -> Sequence[WindowLine]:
    """Return the lines of the parts that did not change, from part ``first_part`` on."""
    found: list[WindowLine] = []
    number, start, start_before = 0, 0, 0
    for i, part in enumerate(parts):
        for line in lines_of(part.after):
            length = len(as_bytes(line))
            if part.before == part.after and i >= first_part:
                found.append(
                    WindowLine(
                        number=number,
                        start=start,
                        end=start + length,
                        start_before=start_before,
                        may_change=part.may_change,
                    )
                )
                start_before += length
            number, start = number + 1, start + length
        if part.before != part.after or i < first_part:
            start_before += len(as_bytes(part.before))
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenizedWindow:
    """A window's text and ids. ``starts[i]`` is where token ``ids[num_before + i]`` begins."""

    text: bytes  # in which lines are scored
    ids: Sequence[int]
    num_before: int  # ids before the first of ``text``: marks, and an edit that is read first
    starts: Sequence[int]

    def token_at(self, offset: int) -> int:
        """Return the index in ``ids`` of the token that holds a byte of the text."""
        return self.num_before + bisect_right(self.starts, offset) - 1

    def start_of(self, token: int) -> int:
        """Return the offset at which a token of the text begins."""
        return self.starts[token - self.num_before]

    def beginning(self, num_ids: int) -> "TokenizedWindow":
        """Return the window of the first ids."""
        num_tokens = num_ids - self.num_before
        end = self.starts[num_tokens] if num_tokens < len(self.starts) else len(self.text)
        starts = self.starts[:num_tokens]
        return replace(self, text=self.text[:end], ids=self.ids[:num_ids], starts=starts)


@dataclass(frozen=True, kw_only=True, slots=True)
class EditedWindow:
    """Both windows. ``lines`` are those that did not change, in order."""

    before: TokenizedWindow
    after: TokenizedWindow
    lines: Sequence[WindowLine]
    first_scored: int  # index of an id in both windows: from here on tokens are scored

    def is_edited(self) -> bool:
        return list(self.before.ids) != list(self.after.ids)

    def beginning(self, num_scored: int) -> "EditedWindow | None":
        """Return the windows up to some tokens, in whole lines; None if these are none, or all."""
        lines = [
            line
            for line in self.lines
            if self.after.token_at(line.end - 1) < self.first_scored + num_scored
        ]
        if not lines or len(lines) == len(self.lines):
            return None
        return replace(
            self,
            before=self.before.beginning(self.before.token_at(lines[-1].end_before - 1) + 1),
            after=self.after.beginning(self.after.token_at(lines[-1].end - 1) + 1),
            lines=lines,
        )

    def up_to(self, line: WindowLine) -> "EditedWindow":
        """Return the windows up to the end of a line."""
        num_scored = self.after.token_at(line.end - 1) + 1 - self.first_scored
        return self.beginning(num_scored) or self


def read_window(request: FindNextEdits, text: FimTokenizer) -> EditedWindow:
    """Return the windows of a request. Raises ValueError if a part but the last ends in a line."""
    edited = read_lines(request)
    if request.direction == "below":
        before, after = _below(text, edited.before), _below(text, edited.after)
    else:
        above = edited.after[: edited.edit_start]
        before = _above(text, above, edited.before[edited.edit_start :])
        after = _above(text, above, edited.after[edited.edit_start :])
    return EditedWindow(
        before=before,
        after=after,
        lines=edited.lines,
        first_scored=_first_scored(before, after, edited.lines),
    )


def _below(text: FimTokenizer, window: bytes) -> TokenizedWindow:
    return _tokenized(text, window, window_below(text, window.decode()), num_before=1)


def _above(text: FimTokenizer, window: bytes, rest: bytes) -> TokenizedWindow:
    before = text.context([], text.encode(rest.decode()))  # read before it, as a suffix is
    ids = [*before, *text.encode(window.decode())]
    return _tokenized(text, window, ids, num_before=len(before))


def _tokenized(
    text: FimTokenizer, window: bytes, ids: Sequence[int], *, num_before: int
) -> TokenizedWindow:
    lengths = (len(text.bytes_of(token)) for token in ids[num_before:])
    return TokenizedWindow(
        text=window,
        ids=ids,
        num_before=num_before,
        starts=list(accumulate(lengths, initial=0))[:-1],
    )


def _first_scored(
    before: TokenizedWindow, after: TokenizedWindow, lines: Sequence[WindowLine]
) -> int:
    """Return the index of the first id that differs; without an edit, of the first line's."""
    shared = common_prefix_length(before.ids, after.ids)
    if shared < min(len(before.ids), len(after.ids)):
        return shared
    first = next((line for line in lines if line.may_change), None)
    return shared if first is None else max(1, after.token_at(first.start))


def window_below(text: FimTokenizer, window: str) -> list[int]:
    """Return the ids of a window in which lines below an edit are scored."""
    return [text.mark_ids().before_prefix, *text.encode(window)]
