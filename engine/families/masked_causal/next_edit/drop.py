"""Finds the drop of each line, by how far an edit has moved the hidden states before its tokens.

Most tokens do not care about an edit, and the output matrix costs more than the rest of their rows.
So only the tokens are scored that a row predicts which the edit has moved most.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK, CausalBackbone
from intarsia.engine.families.masked_causal.next_edit.edited_window import (
    EditedWindow,
    WindowLine,
    lines_of,
)
from intarsia.engine.families.masked_causal.next_edit.window_reader import ReadWindow
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


@torch.inference_mode()
def line_drops(
    window: EditedWindow, before: ReadWindow, after: ReadWindow, control: FillControl
) -> list[LineDrop]:
    """Return lines that may change with a drop above 0, largest first. Raises Cancelled."""
    pairs = _pairs(window)
    if not pairs:
        return []
    rows_before = before.rows([pair.before - 1 for pair in pairs])
    rows_after = after.rows([pair.after - 1 for pair in pairs])
    moved = (rows_after.float() - rows_before.float()).norm(dim=1)
    moved = moved / rows_before.float().norm(dim=1).clamp(min=1e-6)
    num_scored = min(len(pairs), max(_MIN_SCORED, int(_SHARE_SCORED * len(pairs))))
    chosen = moved.topk(num_scored).indices.sort().values
    targets = [after.ids[pairs[i].after] for i in chosen.tolist()]
    lost = log_probabilities(before.backbone, rows_before[chosen], targets, control)
    lost = lost - log_probabilities(after.backbone, rows_after[chosen], targets, control)
    lines = [pairs[i].line for i in chosen.tolist()]
    return largest_drops(zip(lines, lost.tolist(), strict=True))


@torch.inference_mode()
def log_probabilities(
    backbone: CausalBackbone, hidden: Tensor, targets: Sequence[int], control: FillControl
) -> Tensor:
    """Return the log-probability (tokens,) of each target, predicted by its row of hidden states
    (tokens, hidden). Raises Cancelled between two chunks."""
    found = []
    for start in range(0, len(targets), SHORT_CHUNK):
        control.checkpoint()
        logits = backbone.logits(hidden[start : start + SHORT_CHUNK]).float()
        ids = torch.tensor(targets[start : start + SHORT_CHUNK], device=logits.device)
        found.append(logits.gather(-1, ids[:, None])[:, 0] - logits.logsumexp(dim=-1))
    return torch.cat(found) if found else hidden.new_zeros(0)


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
