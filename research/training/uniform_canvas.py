"""Lays out a hole as the canvas that a fill would denoise, adds noise to it, and stacks canvases.

The hole's tokens are followed by an end token and padding, as the filler expects them. The number
of free positions is one that the filler would try. Only the hole gets noise: given text and suffix
stay clean. Knows no model.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes, HoleLayout, lay_out
from intarsia_research.training.packed_holes import HoleIds


@dataclass(frozen=True, kw_only=True, slots=True)
class UniformMix:
    """How canvases are drawn.

    Most have the shortest length that the filler tries and that fits the hole. ``share_longer``
    have the next length, ``share_exact`` the hole's own, as when existing text is rewritten.
    """

    max_free: int = 128
    share_longer: float = 0.2
    share_exact: float = 0.2
    min_noise: float = 1e-3
    share_conditioned: float = 0.5  # of the holes: a second pass sees the first one's logits


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasRules:
    """What a canvas depends on in the model."""

    sizes: CanvasSizes
    end_id: int
    pad_id: int
    vocab_size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CleanCanvas:
    """A canvas without noise. ``ids[start:end]`` is the hole; its first ``num_needed`` tokens
    determine the fill's text: the hole's own, and the end token if there is one."""

    context: tuple[int, ...]
    ids: tuple[int, ...]
    start: int
    end: int
    num_needed: int


def draw_canvas(
    hole: HoleIds, mix: UniformMix, rules: CanvasRules, rng: random.Random
) -> CleanCanvas:
    """Lay out a hole of at most ``max_free`` tokens as a fill does.

    If it takes several canvases, one of the canvases is drawn.
    """
    if len(hole.middle) > mix.max_free:
        raise ValueError(f"a hole has {len(hole.middle)} tokens, at most {mix.max_free} fit")
    num_early = max(len(hole.given) - rules.sizes.max_given, 0)
    places = lay_out(
        hole.given[num_early:],
        _num_free(len(hole.middle), mix, rng),
        hole.suffix,
        sizes=rules.sizes,
        end_id=rules.end_id,
        pad_id=rules.pad_id,
    )
    num_free = sum(place.end - place.start for place in places)
    text = [*hole.middle, rules.end_id, *[rules.pad_id] * num_free][:num_free]
    context, canvases = [*hole.prefix, *hole.given[:num_early]], []
    for place in places:
        num_before = num_free - len(text)
        if num_before > len(hole.middle):
            break  # the hole ended before this canvas
        num_written = place.end - place.start
        written, text = text[:num_written], text[num_written:]
        canvases.append(
            CleanCanvas(
                context=tuple(context),
                ids=_with_text(place, written),
                start=place.start,
                end=place.end,
                num_needed=min(len(hole.middle) + 1 - num_before, num_written),
            )
        )
        context += canvases[-1].ids
    return rng.choice(canvases)


def noised(
    canvas: CleanCanvas, noise: float, rules: CanvasRules, rng: random.Random
) -> tuple[int, ...]:
    """Return the ids; each of the hole's is replaced by a random token with this probability."""
    hole = (
        rng.randrange(rules.vocab_size) if rng.random() < noise else token
        for token in canvas.ids[canvas.start : canvas.end]
    )
    return (*canvas.ids[: canvas.start], *hole, *canvas.ids[canvas.end :])


def _with_text(place: HoleLayout, written: Sequence[int]) -> tuple[int, ...]:
    text = iter(written)
    return tuple(next(text) if token is None else token for token in place.ids)


def _num_free(num_tokens: int, mix: UniformMix, rng: random.Random) -> int:
    drawn = rng.random()
    if drawn < mix.share_exact:
        return num_tokens
    fitting = [length for length in candidate_lengths(mix.max_free) if length >= num_tokens]
    is_longer = drawn < mix.share_exact + mix.share_longer
    return fitting[min(int(is_longer), len(fitting) - 1)]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class UniformBatch:
    """One row a hole; the padding token fills up contexts and canvases."""

    context: Tensor  # (holes, context) long
    num_context: Tensor  # (holes,) long
    clean: Tensor  # (holes, length) long: x0
    noisy: Tensor  # (holes, length) long: xt
    num_ids: Tensor  # (holes,) long
    is_hole: Tensor  # (holes, length) bool
    is_needed: Tensor  # (holes, length) bool: the hole's tokens, and its end

    def to(self, device: torch.device) -> "UniformBatch":
        fields = {name: getattr(self, name).to(device) for name in self.__dataclass_fields__}
        return UniformBatch(**fields)


def batch_of(
    canvases: Sequence[CleanCanvas], noisy: Sequence[Sequence[int]], *, pad_id: int
) -> UniformBatch:
    """Stack canvases; ``noisy`` has the noised ids of each."""
    positions = torch.arange(max(len(canvas.ids) for canvas in canvases))
    starts, ends = _column(c.start for c in canvases), _column(c.end for c in canvases)
    needed = _column(c.start + c.num_needed for c in canvases)
    return UniformBatch(
        context=_padded([canvas.context for canvas in canvases], pad_id),
        num_context=torch.tensor([len(canvas.context) for canvas in canvases]),
        clean=_padded([canvas.ids for canvas in canvases], pad_id),
        noisy=_padded(noisy, pad_id),
        num_ids=torch.tensor([len(canvas.ids) for canvas in canvases]),
        is_hole=(positions >= starts) & (positions < ends),
        is_needed=(positions >= starts) & (positions < needed),
    )


def _column(numbers: Iterable[int]) -> Tensor:
    return torch.tensor(list(numbers))[:, None]


def _padded(rows: Sequence[Sequence[int]], pad_id: int) -> Tensor:
    length = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (length - len(row))] for row in rows])
