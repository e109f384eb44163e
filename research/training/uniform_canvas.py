"""A hole → the canvas that a fill would lay out for it, and its noise. Ids in, ids out.

Behind the hole's own tokens stand an end and padding, as the filler reads them, up to the number of
free positions, which is one that the filler would try. Noise falls on the hole alone: given text
and suffix stay clean. Knows no model.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.diffusion.length import candidate_lengths
from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes, HoleLayout, lay_out
from intarsia.research.training.packed_holes import HoleIds


@dataclass(frozen=True, kw_only=True, slots=True)
class UniformMix:
    """How canvases are drawn: with the shortest length the filler tries that holds the hole, with
    the next longer one, or with the hole's own length, which a draft's canvas has."""

    max_free: int = 128
    share_longer: float = 0.2
    share_exact: float = 0.2
    least_noise: float = 1e-3
    share_conditioned: float = 0.5  # of the holes: a second pass, which sees what the first said


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasRules:
    """The model's side of it."""

    sizes: CanvasSizes
    end_id: int
    pad_id: int
    vocab_size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CleanCanvas:
    """``ids[start:end]`` are the hole; of these, ``num_needed`` decide what a fill says: its own
    tokens, and the end where it has one."""

    context: tuple[int, ...]
    ids: tuple[int, ...]
    start: int
    end: int
    num_needed: int


def draw_canvas(
    hole: HoleIds, mix: UniformMix, rules: CanvasRules, chosen: random.Random
) -> CleanCanvas:
    """Lay a hole of at most ``max_free`` tokens out as a fill does. Of one that takes several
    canvases, any one is drawn."""
    if len(hole.middle) > mix.max_free:
        raise ValueError(f"a hole has {len(hole.middle)} tokens, at most {mix.max_free} are drawn")
    num_early = max(len(hole.given) - rules.sizes.max_given, 0)
    places = lay_out(
        hole.given[num_early:],
        _num_free(len(hole.middle), mix, chosen),
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
            break  # the text has ended before this canvas
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
    return chosen.choice(canvases)


def noised(
    canvas: CleanCanvas, noise: float, rules: CanvasRules, chosen: random.Random
) -> tuple[int, ...]:
    """Return the canvas's ids with each of the hole's replaced, with this probability, by any."""
    hole = (
        chosen.randrange(rules.vocab_size) if chosen.random() < noise else token
        for token in canvas.ids[canvas.start : canvas.end]
    )
    return (*canvas.ids[: canvas.start], *hole, *canvas.ids[canvas.end :])


def _with_text(place: HoleLayout, written: Sequence[int]) -> tuple[int, ...]:
    text = iter(written)
    return tuple(next(text) if token is None else token for token in place.ids)


def _num_free(num_tokens: int, mix: UniformMix, chosen: random.Random) -> int:
    luck = chosen.random()
    if luck < mix.share_exact:
        return num_tokens
    fitting = [length for length in candidate_lengths(mix.max_free) if length >= num_tokens]
    is_longer = luck < mix.share_exact + mix.share_longer
    return fitting[min(int(is_longer), len(fitting) - 1)]
