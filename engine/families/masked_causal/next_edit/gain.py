"""The gain of a correction: by how much it makes the code around it likelier.

The new lines and the two after them are compared with the old lines and the same two, each after
the code above. Before the edit the same gain should not be there: the difference of both, the
double difference, is the edit's own doing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from intarsia.engine.families.masked_causal.backbone.chunks import SHORT_CHUNK
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.next_edit.drop import log_probabilities
from intarsia.engine.families.masked_causal.next_edit.edited_window import TokenizedWindow
from intarsia.engine.families.masked_causal.next_edit.window_reader import ReadWindow
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
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
    *,
    backbone: CausalBackbone,
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
    likely_old = log_probabilities(backbone, known, old, control).sum()
    likely_new = log_p_after(read, first, new, backbone, control)
    return float(likely_new - likely_old)


def log_p_after(
    read: ReadWindow,
    first: int,
    ids: Sequence[int],
    backbone: CausalBackbone,
    control: FillControl,
) -> torch.Tensor:
    """Return the log-probability () of ids that follow the first ``first`` tokens of a window.

    Call it in inference mode. Raises Cancelled between two chunks.
    """
    cache = backbone.new_cache()
    cache.copy_prefix(read.cache, first)
    cache.reserve(len(ids))
    hidden = [read.rows([first - 1])]
    for start in range(0, len(ids) - 1, SHORT_CHUNK):
        control.checkpoint()
        part = list(ids[start : min(start + SHORT_CHUNK, len(ids) - 1)])
        rows = frozen_rows(part, start=len(cache), device=backbone.device)
        hidden.append(backbone.forward(rows, cache))
        cache.commit(part)
    rows_of = torch.cat(hidden)[: len(ids)]
    return log_probabilities(backbone, rows_of, ids, control).sum()
