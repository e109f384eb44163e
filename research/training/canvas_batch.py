"""Draws training canvases over a few holes: token ids in, padded tensors out.

A canvas starts at a position ``start`` of the text; its rows see the ``start`` tokens before it as
plain backbone rows computed them. Its first row is always masked; the others are masked or known.
The row at position p predicts the token at p + 1, as in a fill: a masked row does not know the
token at its own position. Knows no model.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimIds
from intarsia.training.packed_holes import HoleIds, LaidOut, lay_out


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasMix:
    """How canvases are drawn.

    ``share_drafts`` of the canvases are short and fully masked, as speculative decoding runs them.
    The others are long, with masked runs between known ones, as decoding by entropy runs them: one
    run is one hole, several runs are holes with known text between them. A hole that is too short
    for its canvases leaves the rest to the known text before it, then to the prefix.
    """

    num_canvases: int = 40  # a hole
    share_drafts: float = 0.75
    max_draft: int = 5
    length: int = 12
    share_all_masked: float = 0.4  # of the long ones
    max_prefix: int = 144
    max_suffix: int = 64
    max_middle: int = 64


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CanvasBatch:
    """A few holes, each with the rows of all its canvases. Padding rows belong to canvas -1."""

    ids: Tensor  # (holes, length) long: context and hole, padded at the end
    row_ids: Tensor  # (holes, rows) long: the mask id where masked
    row_positions: Tensor  # (holes, rows) long
    row_canvases: Tensor  # (holes, rows) long
    row_num_visible: Tensor  # (holes, rows) long: how many of ``ids`` the row sees
    row_depths: Tensor  # (holes, rows) long: masked rows before it in its canvas
    targets: Tensor  # (holes, rows) long: the token to predict; -1 where it is known
    weights: Tensor  # (holes, rows) float
    is_draft: Tensor  # (holes, rows) bool
    has_teacher: Tensor  # (holes, rows) bool: the true text is known, so the backbone predicts too

    def to(self, device: torch.device) -> "CanvasBatch":
        fields = {name: getattr(self, name).to(device) for name in self.__dataclass_fields__}
        return CanvasBatch(**fields)

    @property
    def num_rows(self) -> int:
        return int((self.row_canvases >= 0).sum())

    def sees_row(self) -> Tensor:
        """Return which rows each row sees (holes, rows, rows) bool: those of its canvas."""
        return self.row_canvases[:, :, None] == self.row_canvases[:, None, :]


def draw_batch(
    holes: Sequence[HoleIds], mix: CanvasMix, fim: FimIds, rng: random.Random
) -> CanvasBatch:
    """Draw the canvases of these holes."""
    texts = [lay_out(hole, fim, mix.max_prefix, mix.max_suffix, mix.max_middle) for hole in holes]
    rows = [_draw_rows(text, mix, fim, rng) for text in texts]
    return _stack([text.ids for text in texts], rows, fim)


_LEAST_BEFORE = 7  # tokens of the file before a canvas in its prefix
_DEPTH_WEIGHT = 0.85  # a draft's token only counts if all before it are accepted
_BEYOND_END_WEIGHT = 0.05  # rows after the hole's end should predict the end, too
_END_WEIGHT = 1.5  # where a hole ends matters more than any other token


@dataclass(frozen=True, kw_only=True, slots=True)
class _Canvas:
    """``known[i]``: whether the token at ``start + i`` is known. Text from ``text_end`` on is not
    the canvas's."""

    index: int
    start: int
    text_end: int
    known: Sequence[bool]
    is_draft: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    token: int
    position: int
    canvas: int
    num_visible: int
    depth: int
    target: int
    weight: float
    is_draft: bool
    has_teacher: bool


def _draw_rows(text: LaidOut, mix: CanvasMix, fim: FimIds, rng: random.Random) -> list[_Row]:
    in_hole = list(range(text.given_end + 1, len(text.ids)))
    in_given = list(range(text.context_end + 1, text.given_end + 1))
    first = min(text.prefix_start + _LEAST_BEFORE, text.prefix_end)
    in_prefix = list(range(first, text.prefix_end - mix.max_draft - 1))
    for positions in (in_hole, in_given, in_prefix):
        rng.shuffle(positions)
    starts = [*in_hole, *in_given, *in_prefix][: mix.num_canvases]
    rows: list[_Row] = []
    for index, start in enumerate(starts):
        is_in_prefix = start < text.context_end
        is_draft = is_in_prefix or rng.random() < mix.share_drafts
        canvas = _Canvas(
            index=index,
            start=start,
            text_end=text.prefix_end if is_in_prefix else len(text.ids),
            known=[False] * rng.randint(1, mix.max_draft) if is_draft else _draw_known(mix, rng),
            is_draft=is_draft,
        )
        rows += _rows_of(canvas, text.ids, fim)
    return rows


def _draw_known(mix: CanvasMix, rng: random.Random) -> list[bool]:
    """Return which tokens of a long canvas are known: none, scattered ones, or runs."""
    if rng.random() < mix.share_all_masked:
        return [False] * mix.length
    share = rng.random()
    if rng.random() < 0.5:
        return [False, *(rng.random() < share for _ in range(mix.length - 1))]
    known: list[bool] = []
    while len(known) < mix.length:
        known += [False] * rng.randint(1, 5) + [True] * rng.randint(1, 4)
    return known[: mix.length]


def _rows_of(canvas: _Canvas, ids: Sequence[int], fim: FimIds) -> list[_Row]:
    rows = []
    depth = 0
    for i, is_known in enumerate(canvas.known):
        position = canvas.start + i
        is_next_known = i + 1 < len(canvas.known) and canvas.known[i + 1]
        has_teacher = position + 1 < canvas.text_end
        target = ids[position + 1] if has_teacher else fim.end
        token = ids[position] if position < canvas.text_end else fim.end
        weight = _DEPTH_WEIGHT**depth if canvas.is_draft else 1.0
        if not has_teacher:
            weight = _BEYOND_END_WEIGHT if ids[canvas.text_end - 1] == fim.end else 0.0
        elif target == fim.end:
            weight *= _END_WEIGHT
        rows.append(
            _Row(
                token=token if is_known else fim.mask,
                position=position,
                canvas=canvas.index,
                num_visible=canvas.start,
                depth=depth,
                target=-1 if is_next_known else target,
                weight=weight,
                is_draft=canvas.is_draft,
                has_teacher=has_teacher,
            )
        )
        depth += not is_known
    return rows


def _padding(fim: FimIds) -> _Row:
    return _Row(
        token=fim.mask,
        position=0,
        canvas=-1,
        num_visible=1,
        depth=0,
        target=-1,
        weight=0.0,
        is_draft=False,
        has_teacher=False,
    )


def _stack(texts: list[list[int]], rows: list[list[_Row]], fim: FimIds) -> CanvasBatch:
    length, num_rows = max(map(len, texts)), max(map(len, rows))
    padding = _padding(fim)
    padded = [[*of_hole, *[padding] * (num_rows - len(of_hole))] for of_hole in rows]

    def column(name: str) -> Tensor:
        return torch.tensor([[getattr(row, name) for row in of_hole] for of_hole in padded])

    return CanvasBatch(
        ids=torch.tensor([[*ids, *[fim.end] * (length - len(ids))] for ids in texts]),
        row_ids=column("token"),
        row_positions=column("position"),
        row_canvases=column("canvas"),
        row_num_visible=column("num_visible"),
        row_depths=column("depth"),
        targets=column("target"),
        weights=column("weight"),
        is_draft=column("is_draft"),
        has_teacher=column("has_teacher"),
    )
