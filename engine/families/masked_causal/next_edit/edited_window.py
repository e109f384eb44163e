"""Reads a request for next edits as two windows of token ids, aligned line by line.

One window is the text before the edit, the other is the text after it. Where nothing changed, a
token of one has its counterpart in the other. Offsets are in bytes of UTF-8, as tokens are.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from intarsia.engine.families.masked_causal.next_edit.prompt import window_above, window_below
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.families.next_edit.edited_lines import WindowLine, read_lines
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.ipc.messages import FindNextEdits


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
        return TokenizedWindow(
            text=self.text[:end],
            ids=self.ids[:num_ids],
            num_before=self.num_before,
            starts=self.starts[:num_tokens],
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class EditedWindow:
    """Both windows. ``lines`` are those that did not change, in order."""

    before: TokenizedWindow
    after: TokenizedWindow
    lines: Sequence[WindowLine]
    first_scored: int  # index of an id in both windows: from here on tokens are scored

    def is_edited(self) -> bool:
        """Whether the windows differ."""
        return list(self.before.ids) != list(self.after.ids)

    def beginning(self, num_scored: int) -> "EditedWindow | None":
        """Return the windows with the lines that end among the first tokens to score.

        None if that is no line, or every line.
        """
        lines = [
            line
            for line in self.lines
            if self.after.token_at(line.end - 1) < self.first_scored + num_scored
        ]
        if not lines or len(lines) == len(self.lines):
            return None
        end = lines[-1].end
        end_before = end - lines[-1].start + lines[-1].start_before
        return EditedWindow(
            before=self.before.beginning(self.before.token_at(end_before - 1) + 1),
            after=self.after.beginning(self.after.token_at(end - 1) + 1),
            lines=lines,
            first_scored=self.first_scored,
        )


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
    ids = window_above(text, window.decode(), rest.decode())
    num_before = len(ids) - len(text.encode(window.decode()))
    return _tokenized(text, window, ids, num_before=num_before)


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
