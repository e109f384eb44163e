"""Whether a fill of the changed text, which sees both sides of it but not the edit, agrees.

A correction that repeats the edit knows what the edit did; a fill knows the code around the place.
What both would write is hardly ever wrong.
"""

import re
from dataclasses import dataclass

import torch

from intarsia.engine.families.masked_causal.backbone.chunks import SHORT_CHUNK
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.next_edit.edited_window import TokenizedWindow
from intarsia.engine.families.masked_causal.next_edit.gain import Replacement
from intarsia.engine.families.masked_causal.next_edit.window_reader import ReadWindow
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.fill_control import FillControl

_MAX_SUFFIX = 110  # tokens
_SUFFIX_BYTES = 800  # more than these tokens have
_WORD = re.compile(rb"\w")


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedText:
    """The part of new lines that the old ones do not have, in whole words."""

    given: bytes  # before it
    new: bytes
    suffix: bytes  # after it


def changed_text(old: bytes, new: bytes) -> ChangedText:
    """Return the change between two texts."""
    start = _num_shared(old, new)
    num_after = _num_shared(old[start:][::-1], new[start:][::-1])
    end = len(new) - num_after
    return ChangedText(given=new[:start], new=new[start:end], suffix=new[end:])


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
    *,
    backbone: CausalBackbone,
    text: FimTokenizer,
    control: FillControl,
) -> bool:
    """Tell whether a greedy fill in the place of the changed text would write the same.

    The fill may go on with the text after the change, as one to the end of the line would. Raises
    Cancelled between two chunks.
    """
    change = changed_text(window.text[replacement.start : replacement.end], replacement.new)
    if not change.new.strip() or replacement.start >= len(window.text):
        return False  # a fill has nothing to say about a deletion
    first = window.token_at(replacement.start)
    given = window.text[window.start_of(first) : replacement.start] + change.given
    suffix = change.suffix + window.text[replacement.end :][:_SUFFIX_BYTES]
    middle = text.encode((given + change.new).decode("utf-8", "replace"))
    num_given = _num_within(middle, len(given), text)
    marks = text.mark_ids()
    shown = text.encode(suffix.decode("utf-8", "replace"))[:_MAX_SUFFIX]
    ids = [marks.before_suffix, *shown, marks.before_middle, *middle]
    cache = backbone.new_cache()
    cache.copy_prefix(read.cache, first)
    cache.reserve(len(ids))
    hidden = []
    for start in range(0, len(ids), SHORT_CHUNK):
        control.checkpoint()
        part = ids[start : start + SHORT_CHUNK]
        rows = frozen_rows(part, start=len(cache), device=backbone.device)
        hidden.append(backbone.forward(rows, cache))
        cache.commit(part)
    num_written = len(middle) - num_given
    likeliest = backbone.logits(torch.cat(hidden)[-num_written - 1 :]).argmax(-1).tolist()
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
