"""Lays out holes as canvases of a causal backbone, adds uniform noise, and stacks their rows.

A canvas follows its context, which holds prefix and suffix (fill in the middle). Each row predicts
the token of the next row, as in the backbone's own training; the first row is the context's last
token. The hole is followed by an end token and padding, or by the head of its suffix (pinned).
Rows are ragged: several canvases of one hole share its context and follow each other. Knows no
model.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from intarsia.engine.diffusion.candidate_lengths import candidate_lengths

IGNORED = -1
"""The target of a row that predicts nothing, and the canvas of a row that is padding."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CausalMix:
    """How canvases are drawn.

    ``share_pinned`` show the head of the suffix after the hole. Of these ``share_exact`` have the
    hole's own length and ``share_short`` a shorter one: there the suffix is to be overwritten, by
    which a fill judges a length. The others have the shortest length that the filler tries and that
    fits, or (``share_longer``) the next one. Without a suffix any length that fits is drawn: the
    length of a canvas must not tell that of its hole.
    """

    max_free: int = 64
    num_pinned: int = 16
    rows_per_hole: int = 240
    share_pinned: float = 0.5
    share_exact: float = 0.25
    share_short: float = 0.15
    share_longer: float = 0.25
    share_left_clean: float = 0.3  # noise begins somewhere in the hole
    min_noise: float = 1e-3
    weight_beyond: float = 0.1  # of padding and pinned tokens in the loss


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasIds:
    """One canvas after its first row: what is true, what is shown where there is no noise, and how
    many of its first tokens are free. ``num_needed`` of these determine the text: the hole's, and
    the end token if there is one."""

    clean: Sequence[int]
    shown: Sequence[int]
    num_free: int
    num_needed: int


def lay_out_canvas(
    hole: Sequence[int], suffix: Sequence[int], num_free: int, *, end_id: int, pad_id: int
) -> CanvasIds:
    """Return the canvas of a hole with ``num_free`` free positions before ``suffix``.

    Where they are too few, the hole's rest and the suffix after it are the truth behind them.
    """
    beyond = [*hole, *suffix][num_free : num_free + len(suffix)]
    inside = [*hole, end_id, *[pad_id] * num_free][:num_free]
    return CanvasIds(
        clean=[*inside, *(beyond if num_free < len(hole) else suffix)],
        shown=[*inside, *suffix],
        num_free=num_free,
        num_needed=min(len(hole) + 1, num_free),
    )


def draw_canvas(
    hole: Sequence[int],
    suffix: Sequence[int],
    mix: CausalMix,
    rng: random.Random,
    *,
    end_id: int,
    pad_id: int,
) -> CanvasIds:
    """Draw one of the canvases that a fill of this hole may denoise."""
    is_pinned, drawn = rng.random() < mix.share_pinned, rng.random()
    pinned = suffix[: mix.num_pinned] if is_pinned else ()
    lengths = candidate_lengths(mix.max_free)
    # without a suffix to meet, the end token ends the hole: it must fit
    fitting = [n for n in lengths if n >= len(hole) + (not pinned)] or [mix.max_free]
    shorter = [n for n in lengths if n < len(hole)]
    if pinned and drawn < mix.share_exact:
        num_free = len(hole)
    elif not pinned:
        num_free = rng.choice(fitting)
    elif shorter and drawn < mix.share_exact + mix.share_short:
        num_free = rng.choice(shorter)
    else:
        is_longer = rng.random() < mix.share_longer
        num_free = fitting[min(int(is_longer), len(fitting) - 1)]
    return lay_out_canvas(hole, pinned, num_free, end_id=end_id, pad_id=pad_id)


def draw_noise(num_free: int, mix: CausalMix, rng: random.Random) -> np.ndarray:
    """Return how probable noise is at each free position, (num_free,) float64."""
    level = rng.uniform(mix.min_noise, 1)
    noise = np.full(num_free, level)
    if rng.random() < mix.share_left_clean:
        noise[: rng.randrange(num_free + 1)] *= 0.05
    return noise


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class CanvasRows:
    """The rows of all canvases of some holes, (holes, rows) each."""

    ids: Tensor  # long
    positions: Tensor  # long: the row's own, counted from the context's first token
    canvas: Tensor  # long: the row's canvas within its hole, IGNORED for padding
    targets: Tensor  # long: the next row's true token, IGNORED where nothing is predicted
    weights: Tensor  # float32: of the row in the loss
    is_needed: Tensor  # bool: the target is the hole's, or its end

    def to(self, device: torch.device) -> "CanvasRows":
        fields = {
            name: getattr(self, name).to(device, non_blocking=True)
            for name in self.__dataclass_fields__
        }
        return CanvasRows(**fields)


@dataclass(frozen=True, kw_only=True, slots=True)
class NoisyCanvas:
    """A canvas as its rows show it: the first row's token, then ``noisy``."""

    first: int
    noisy: np.ndarray  # (length,) int64
    canvas: CanvasIds


def noised(
    canvas: CanvasIds, noise: np.ndarray, first: int, *, vocab_size: int, rng: np.random.Generator
) -> NoisyCanvas:
    """Replace each free token by a uniformly drawn one with its own probability."""
    shown = np.array(canvas.shown, dtype=np.int64)
    num = canvas.num_free
    is_noise = rng.random(num) < noise
    shown[:num][is_noise] = rng.integers(vocab_size, size=int(is_noise.sum()))
    return NoisyCanvas(first=first, noisy=shown, canvas=canvas)


def stack_rows(
    holes: Sequence[Sequence[NoisyCanvas]], num_context: Sequence[int], *, weight_beyond: float
) -> CanvasRows:
    """Stack the canvases of each hole one after the other.

    ``num_context``: tokens of each hole's context, without the one that its first rows hold.
    """
    length = max(sum(1 + len(one.noisy) for one in canvases) for canvases in holes)
    shape = (len(holes), length)
    ids, positions = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    number, targets = np.full(shape, IGNORED, np.int64), np.full(shape, IGNORED, np.int64)
    weights, is_needed = np.zeros(shape, np.float32), np.zeros(shape, bool)
    for h, canvases in enumerate(holes):
        at = 0
        for n, one in enumerate(canvases):
            num = len(one.noisy)
            rows = slice(at, at + num + 1)
            ids[h, at], ids[h, at + 1 : at + num + 1] = one.first, one.noisy
            positions[h, rows] = num_context[h] + np.arange(num + 1)
            number[h, rows] = n
            targets[h, at : at + num] = one.canvas.clean
            weights[h, at : at + num] = weight_beyond
            weights[h, at : at + one.canvas.num_needed] = 1.0
            is_needed[h, at : at + one.canvas.num_needed] = True
            at += num + 1
    named = {
        "ids": ids,
        "positions": positions,
        "canvas": number,
        "targets": targets,
        "weights": weights,
        "is_needed": is_needed,
    }
    return CanvasRows(**{name: torch.from_numpy(array) for name, array in named.items()})
