"""Canvases drawn over a few holes: ids in, tensors out, all from one random generator.

A canvas stands behind ``anchor`` context and hole tokens, which its rows see on the frozen path.
Its first row is always masked; the others are masked or known. The row at position p names the
token at p + 1, as it does when a hole is filled: the token at its own position it has to guess,
unless it is known. Knows no model.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.fim_tokenizer import FimIds
from intarsia.research.training.packed_holes import HoleIds


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasMix:
    """How canvases are drawn.

    ``share_proposals`` of them are short and all masked, as ``verified`` runs them; the others are
    long, with masked runs between known ones, as ``entropy`` does: one run is a hole, several are
    holes with given text between them. Where a hole is too short for its share of canvases, the
    rest stands in what is given, then in the prefix: what follows there is known too.
    """

    num_canvases: int = 40  # a hole
    share_proposals: float = 0.75
    max_proposed: int = 5
    length: int = 12
    share_all_masked: float = 0.4  # of the long ones
    max_prefix: int = 144
    max_suffix: int = 64
    max_middle: int = 64


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CanvasBatch:
    """Some holes, each with the rows of all its canvases. Padding rows belong to canvas -1."""

    ids: Tensor  # (holes, length) long: context and hole, padded at the end
    row_ids: Tensor  # (holes, rows) long: the mask id where masked
    row_positions: Tensor  # (holes, rows) long
    row_canvases: Tensor  # (holes, rows) long
    row_anchors: Tensor  # (holes, rows) long: how many of ``ids`` the row sees
    row_depths: Tensor  # (holes, rows) long: masked rows before it in its canvas
    targets: Tensor  # (holes, rows) long: the token that the row should name; -1 where known
    weights: Tensor  # (holes, rows) float
    is_proposal: Tensor  # (holes, rows) bool
    is_taught: Tensor  # (holes, rows) bool: what stands there is known, so the backbone can say too

    def to(self, device: torch.device) -> "CanvasBatch":
        fields = {name: getattr(self, name).to(device) for name in self.__dataclass_fields__}
        return CanvasBatch(**fields)

    @property
    def num_rows(self) -> int:
        return int((self.row_canvases >= 0).sum())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    token: int
    position: int
    canvas: int
    anchor: int
    depth: int
    target: int
    weight: float
    is_proposal: bool
    is_taught: bool


_DEPTH_WEIGHT = 0.85  # a proposal's token matters only where those before it are kept
_BEYOND_END_WEIGHT = 0.05  # rows behind the hole's end: they should say "end" too
_END_WEIGHT = 1.5  # where a hole ends matters more than any one of its tokens


def draw_batch(
    holes: Sequence[HoleIds], mix: CanvasMix, fim: FimIds, chosen: random.Random
) -> CanvasBatch:
    """Draw the canvases of these holes."""
    lengths, texts, rows = [], [], []
    for hole in holes:
        middle = list(hole.middle[: mix.max_middle])
        is_whole = len(middle) == len(hole.middle)
        prefix = list(hole.prefix[-mix.max_prefix :])
        context = [
            fim.before_prefix,
            *prefix,
            fim.before_suffix,
            *(hole.suffix[: mix.max_suffix]),
            fim.before_middle,
        ]
        behind = [*hole.given, *middle, *([fim.end] if is_whole else [])]
        texts.append([*context, *behind])
        lengths.append(len(texts[-1]))
        parts = _Parts(
            prefix_end=len(prefix) + 1,
            context_end=len(context),
            given_end=len(context) + len(hole.given),
        )
        rows.append(_rows(texts[-1], parts, mix, fim, chosen))
    width, num_rows = max(lengths), max(map(len, rows))
    pad = _Row(
        token=fim.mask,
        position=0,
        canvas=-1,
        anchor=1,
        depth=0,
        target=-1,
        weight=0.0,
        is_proposal=False,
        is_taught=False,
    )
    full = [[*those, *[pad] * (num_rows - len(those))] for those in rows]

    def column(name: str) -> Tensor:
        return torch.tensor([[getattr(row, name) for row in those] for those in full])

    return CanvasBatch(
        ids=torch.tensor([[*text, *[fim.end] * (width - len(text))] for text in texts]),
        row_ids=column("token"),
        row_positions=column("position"),
        row_canvases=column("canvas"),
        row_anchors=column("anchor"),
        row_depths=column("depth"),
        targets=column("target"),
        weights=column("weight"),
        is_proposal=column("is_proposal"),
        is_taught=column("is_taught"),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Parts:
    """Where the parts of a text end: prefix and mark, suffix and mark, what is given behind."""

    prefix_end: int
    context_end: int
    given_end: int


def _rows(
    text: Sequence[int], parts: _Parts, mix: CanvasMix, fim: FimIds, chosen: random.Random
) -> list[_Row]:
    in_hole = list(range(parts.given_end + 1, len(text)))
    in_given = list(range(parts.context_end + 1, parts.given_end + 1))
    in_prefix = list(range(min(8, parts.prefix_end), parts.prefix_end - mix.max_proposed - 1))
    for places in (in_hole, in_given, in_prefix):
        chosen.shuffle(places)
    anchors = [*in_hole, *in_given, *in_prefix][: mix.num_canvases]
    rows: list[_Row] = []
    for canvas, anchor in enumerate(anchors):
        is_in_prefix = anchor < parts.context_end
        last = parts.prefix_end if is_in_prefix else len(text)
        is_proposal = is_in_prefix or chosen.random() < mix.share_proposals
        if is_proposal:
            known = [False] * chosen.randint(1, mix.max_proposed)
        else:
            known = _draw_known(mix, chosen)
        rows += _canvas_rows(text, canvas, anchor, last, known, fim, is_proposal=is_proposal)
    return rows


def _draw_known(mix: CanvasMix, chosen: random.Random) -> list[bool]:
    """Return which tokens of a long canvas are known: none, scattered ones, or runs."""
    if chosen.random() < mix.share_all_masked:
        return [False] * mix.length
    share = chosen.random()
    if chosen.random() < 0.5:
        return [False, *(chosen.random() < share for _ in range(mix.length - 1))]
    known: list[bool] = []
    while len(known) < mix.length:
        known += [False] * chosen.randint(1, 5) + [True] * chosen.randint(1, 4)
    return known[: mix.length]


def _canvas_rows(
    text: Sequence[int],
    canvas: int,
    anchor: int,
    last: int,
    known: Sequence[bool],
    fim: FimIds,
    *,
    is_proposal: bool,
) -> list[_Row]:
    rows = []
    depth = 0
    for i, is_known in enumerate(known):
        at = anchor + i
        is_next_known = i + 1 < len(known) and known[i + 1]
        target = text[at + 1] if at + 1 < last else fim.end
        weight = _DEPTH_WEIGHT**depth if is_proposal else 1.0
        if at + 1 >= last:
            weight = _BEYOND_END_WEIGHT if text[last - 1] == fim.end else 0.0
        elif target == fim.end:
            weight *= _END_WEIGHT
        rows.append(
            _Row(
                token=(text[at] if at < last else fim.end) if is_known else fim.mask,
                position=at,
                canvas=canvas,
                anchor=anchor,
                depth=depth,
                target=-1 if is_next_known else target,
                weight=weight,
                is_proposal=is_proposal,
                is_taught=at + 1 < last,
            )
        )
        depth += not is_known
    return rows
