"""Judge a replacement: how much likelier it makes the text, and whether a fill agrees with it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.next_edit.drop import log_probabilities
from intarsia.engine.families.masked_causal.next_edit.edited_window import TokenizedWindow
from intarsia.engine.families.masked_causal.next_edit.window_reader import ReadWindow
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.fill_control import FillControl


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """Bytes of a window's text, what replaces them, and where the lines end that are scored too."""

    start: int
    end: int
    new: bytes
    scored_end: int


@torch.inference_mode()
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


def log_p_after(
    read: ReadWindow, first: int, ids: Sequence[int], control: FillControl
) -> torch.Tensor:
    """Return the log-probability () of ids that follow the first ``first`` tokens of a window.

    Call it in inference mode. Raises Cancelled between two chunks.
    """
    hidden = torch.cat([read.rows([first - 1]), *read.read_instead(first, ids[:-1], control)])
    return log_probabilities(read.backbone, hidden[: len(ids)], ids, control).sum()


_MAX_SUFFIX = 110  # tokens
_SUFFIX_BYTES = 800  # more than these tokens have
_WORD = re.compile(rb"\w")


def changed_text(old: bytes, new: bytes) -> tuple[bytes, bytes, bytes]:
    """Return what new lines have in whole words that old ones lack, between before and after."""
    start = _num_shared(old, new)
    num_after = _num_shared(old[start:][::-1], new[start:][::-1])
    end = len(new) - num_after
    return new[:start], new[start:end], new[end:]


def _num_shared(first: bytes, second: bytes) -> int:
    """Return how many bytes both begin with, without a word that goes on in one of these."""
    num = common_prefix_length(first, second)
    goes_on = _WORD.match(first, num) or _WORD.match(second, num)
    while goes_on and num and _WORD.match(second, num - 1):
        num -= 1
    return num


@torch.inference_mode()
def is_filled_alike(
    replacement: Replacement,
    window: TokenizedWindow,
    read: ReadWindow,
    text: FimTokenizer,
    control: FillControl,
) -> bool:
    """Tell whether a greedy fill in the place of the changed text would write the same.

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
    hidden = torch.cat(read.read_instead(first, ids, control))
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
