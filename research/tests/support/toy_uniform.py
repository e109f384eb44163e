"""Training DiffusionGemma at toy size: a tiny random checkpoint, holes that follow from both sides.

A hole is the letter that its prefix names, a plus, and the letter that its suffix names, so letters
may meet in it that never met in training.
"""

from collections.abc import Sequence
from pathlib import Path

from intarsia.engine.families.diffusion_gemma.load import LoadedGemma
from intarsia.training.packed_holes import HoleIds, PackedHoles, pack
from intarsia_research.training.uniform_canvas import UniformMix
from intarsia_research.training.uniform_task import UniformTask

MIX = UniformMix(max_free=4)
_LETTERS = "kqvz"


def toy_letters() -> list[tuple[str, str, str]]:
    """Return prefix, hole and suffix of every pair of letters."""
    return [(f"={a}", f"{a}+{b}", f"{b};\n") for a in _LETTERS for b in _LETTERS]


def toy_letter_holes(
    toy: LoadedGemma, path: Path, lines: Sequence[tuple[str, str, str]]
) -> PackedHoles:
    """Pack such holes; each comes from a source of its own."""
    ids = (
        HoleIds(
            prefix=toy.text.context(prefix, ""),
            middle=toy.text.encode(hole),
            suffix=toy.text.encode(suffix),
            group=number,
        )
        for number, (prefix, hole, suffix) in enumerate(lines)
    )
    return pack(ids, path, metadata={})


def toy_uniform_task(toy: LoadedGemma, *, rank: int = 16) -> UniformTask:
    """Return the task of a tuning."""
    return UniformTask(toy.model, toy.text.special, rank=rank, seed=0, mix=MIX)
