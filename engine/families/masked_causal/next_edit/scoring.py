"""Scores lines by what an edit took from their likelihood, and replacements by what they gain.

Most tokens do not care about an edit, and the output matrix costs more than the rest of their rows.
So only the tokens are scored that a row predicts which the edit has moved most.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from intarsia.engine.arrays import Array, chosen, floats, largest, logsumexp, namespace
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK, CausalBackbone
from intarsia.engine.families.masked_causal.next_edit.edited_window import (
    EditedWindow,
    TokenizedWindow,
    WindowLine,
    lines_of,
)
from intarsia.engine.families.masked_causal.next_edit.window_reader import ReadWindow
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import EditExample

MIN_DROP = 1.0
"""Nats: the loss of a line that is worth a correction. Its exact value hardly matters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LineDrop:
    """A line, and the log-probability that its tokens lost, in nats."""

    line: WindowLine
    drop: float  # the largest loss of one token
    net_drop: float  # of all tokens that were scored: losses less gains


def largest_drops(tokens: Iterable[tuple[WindowLine, float]]) -> list[LineDrop]:
    """Return the lines of tokens by their largest loss, if that is above 0, the largest first."""
    losses: dict[int, list[float]] = {}
    lines: dict[int, WindowLine] = {}
    for line, loss in tokens:
        losses.setdefault(line.number, []).append(loss)
        lines[line.number] = line
    found = [
        LineDrop(line=lines[number], drop=max(own), net_drop=sum(own))
        for number, own in losses.items()
        if max(own) > 0
    ]
    return sorted(found, key=lambda it: -it.drop)


_WORD = re.compile(r"\w+")


def best_first(
    drops: Sequence[LineDrop], window: bytes, example: EditExample
) -> Sequence[LineDrop]:
    """Return a window's lines, the likeliest to follow the edit first, too small drops last."""
    before, after = lines_of(example.before), lines_of(example.after)
    replaced = _words("".join(line for line in before if line not in after))
    added = _words("".join(line for line in after if line not in before))
    edited, removed = replaced or added, replaced - added

    def order(found: LineDrop) -> tuple[bool, float]:
        line = window[found.line.start : found.line.end].decode("utf-8", "replace")
        likelihood = math.log1p(found.drop) + math.log1p(max(0.0, found.net_drop))
        words = _words(line)
        in_common = len(words & edited) / max(1, len(words | edited))  # a share, from 0 to 1
        has_removed = not words.isdisjoint(removed)
        return found.drop >= MIN_DROP, likelihood + (has_removed + in_common)

    return sorted(drops, key=order, reverse=True)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


_SHARE_SCORED = 0.2  # of the tokens: with fewer, places are missed
_MIN_SCORED = 48


def line_drops(
    window: EditedWindow, before: ReadWindow, after: ReadWindow, control: FillControl
) -> list[LineDrop]:
    """Return lines that may change with a drop above 0, largest first. Raises Cancelled."""
    pairs = _pairs(window)
    if not pairs:
        return []
    rows_before = before.rows([pair.before - 1 for pair in pairs])
    rows_after = after.rows([pair.after - 1 for pair in pairs])
    first, second = floats(rows_before), floats(rows_after)
    xp = namespace(first)
    size = xp.linalg.vector_norm(first, axis=1)
    moved = xp.linalg.vector_norm(second - first, axis=1) / xp.clip(size, min=1e-6)
    num_scored = min(len(pairs), max(_MIN_SCORED, int(_SHARE_SCORED * len(pairs))))
    scored = sorted(largest(moved, num_scored).tolist())
    targets = [after.ids[pairs[i].after] for i in scored]
    lost = log_probabilities(before.backbone, rows_before[scored], targets, control)
    lost = lost - log_probabilities(after.backbone, rows_after[scored], targets, control)
    lines = [pairs[i].line for i in scored]
    return largest_drops(zip(lines, lost.tolist(), strict=True))


def log_probabilities(
    backbone: CausalBackbone, hidden: Array, targets: Sequence[int], control: FillControl
) -> Array:
    """Return the log-probability (tokens,) of each target, predicted by its row of hidden states
    (tokens, hidden). Raises Cancelled between two chunks."""
    found = []
    for start in range(0, len(targets), SHORT_CHUNK):
        control.checkpoint()
        logits = floats(backbone.logits(hidden[start : start + SHORT_CHUNK]))
        found.append(chosen(logits, targets[start : start + SHORT_CHUNK]) - logsumexp(logits))
    return namespace(*found).concat(found) if found else np.zeros(0)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A token that is in both windows, as indexes of their ids, and its line."""

    before: int
    after: int
    line: WindowLine


def _pairs(window: EditedWindow) -> list[_Pair]:
    """Return the tokens of lines that may change, if they are tokens of both windows."""
    before, after = window.before, window.after
    at_before = {start: before.num_before + i for i, start in enumerate(before.starts)}
    pairs = []
    for line in window.lines:
        if not line.may_change or not after.text[line.start : line.end].strip():
            continue
        first = after.token_at(line.start)
        if after.start_of(first) < line.start:
            first += 1  # it begins in the line above
        for token in range(first, after.token_at(line.end - 1) + 1):
            own = at_before.get(after.start_of(token) - line.start + line.start_before)
            is_same = own is not None and before.ids[own] == after.ids[token]
            if own is not None and is_same and token > window.first_scored:
                pairs.append(_Pair(own, token, line))
    return pairs


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """Bytes of a window's text, what replaces them, and where the lines end that are scored too."""

    start: int
    end: int
    new: bytes
    scored_end: int


def gain_of(
    replacement: Replacement,
    window: TokenizedWindow,
    read: ReadWindow,
    text: FimTokenizer,
    control: FillControl,
) -> float:
    """Return the gain in nats. Raises Cancelled between two chunks."""
    first = window.token_at(replacement.start) if replacement.start < len(window.text) else None
    if first is None:
        first = len(window.ids)
        start = len(window.text)
    else:
        start = window.start_of(first)
    last = window.token_at(replacement.scored_end - 1) if replacement.scored_end > start else first
    old = list(window.ids[first : last + 1])
    end = window.start_of(last) + len(text.bytes_of(window.ids[last])) if old else start
    new_text = (
        window.text[start : replacement.start]
        + replacement.new
        + window.text[replacement.end : max(end, replacement.end)]
    )
    new = text.encode(new_text.decode("utf-8", "replace"))
    shared = common_prefix_length(old, new)  # equal beginnings are equally likely
    old, new, first = old[shared:], new[shared:], first + shared
    known = read.rows(range(first - 1, first - 1 + len(old))) if old else read.hidden[:0]
    likely_old = log_probabilities(read.backbone, known, old, control).sum()
    likely_new = log_p_after(read, first, new, control)
    return float(likely_new - likely_old)


def log_p_after(read: ReadWindow, first: int, ids: Sequence[int], control: FillControl) -> Array:
    """Return the log-probability () of ids that follow the first ``first`` tokens of a window.

    Raises Cancelled between two chunks.
    """
    rows = [read.rows([first - 1]), *read.read_instead(first, ids[:-1], control)]
    hidden = namespace(*rows).concat(rows)
    return log_probabilities(read.backbone, hidden[: len(ids)], ids, control).sum()


_MAX_SUFFIX = 110  # tokens
_SUFFIX_BYTES = 800  # more than these tokens have
_WORD_BYTE = re.compile(rb"\w")


def changed_text(old: bytes, new: bytes) -> tuple[bytes, bytes, bytes]:
    """Return what new lines have in whole words that old ones lack, between before and after."""
    start = _num_shared(old, new)
    num_after = _num_shared(old[start:][::-1], new[start:][::-1])
    end = len(new) - num_after
    return new[:start], new[start:end], new[end:]


def _num_shared(first: bytes, second: bytes) -> int:
    """Return how many bytes both begin with, without a word that goes on in one of these."""
    num = common_prefix_length(first, second)
    goes_on = _WORD_BYTE.match(first, num) or _WORD_BYTE.match(second, num)
    while goes_on and num and _WORD_BYTE.match(second, num - 1):
        num -= 1
    return num


def is_filled_alike(
    replacement: Replacement,
    window: TokenizedWindow,
    read: ReadWindow,
    text: FimTokenizer,
    control: FillControl,
) -> bool:
    """Return whether a greedy fill in the place of the changed text would write the same.

    The fill may go on with the text after the change, as one to the end of the line would. Raises
    Cancelled between two chunks.
    """
    old = window.text[replacement.start : replacement.end]
    before, changed, after = changed_text(old, replacement.new)
    if not changed.strip() or replacement.start >= len(window.text):
        return False  # a fill has nothing to say about a deletion
    first = window.token_at(replacement.start)
    given = window.text[window.start_of(first) : replacement.start] + before
    suffix = after + window.text[replacement.end :][:_SUFFIX_BYTES]
    middle = text.encode((given + changed).decode("utf-8", "replace"))
    num_given = _num_within(middle, len(given), text)
    marks = text.mark_ids()
    shown = text.encode(suffix.decode("utf-8", "replace"))[:_MAX_SUFFIX]
    ids = [marks.before_suffix, *shown, marks.before_middle, *middle]
    rows = read.read_instead(first, ids, control)
    hidden = namespace(*rows).concat(rows)
    num_written = len(middle) - num_given
    likeliest = read.backbone.logits(hidden[-num_written - 1 :]).argmax(-1).tolist()
    if likeliest[:-1] != middle[num_given:]:
        return False
    last = text.bytes_of(likeliest[-1])
    return likeliest[-1] in text.end_ids or (bool(last) and suffix.startswith(last))


def _num_within(ids: list[int], num_bytes: int, text: FimTokenizer) -> int:
    """Return how many ids end within the first ``num_bytes``."""
    for number, token in enumerate(ids):
        num_bytes -= len(text.bytes_of(token))
        if num_bytes < 0:
            return number
    return len(ids)
