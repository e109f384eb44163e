"""A typist: real source as keys, at a human's speed, with slips that are corrected. Seeded."""

import random
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MODULES = ("bisect", "heapq", "textwrap", "fnmatch", "shlex", "string", "colorsys", "graphlib")


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """One key and the pause before it, in milliseconds; ``name`` as the browser's driver has it."""

    name: str
    pause_ms: float


def standard_library_text() -> str:
    """Return the source of some modules of the standard library, one after the other."""
    folder = Path(sysconfig.get_path("stdlib"))
    return "\n\n".join((folder / f"{name}.py").read_text() for name in MODULES)


def typed(text: str, chance: random.Random) -> Iterator[Key]:
    """Yield the keys that type the text: some wrong ones, each taken back at once."""
    for character in text:
        if character.isalpha() and chance.random() < 0.03:
            yield Key(name=chance.choice("etaoinshrdlu"), pause_ms=_pause(character, chance))
            yield Key(name="Backspace", pause_ms=chance.uniform(150, 400))
        name = "Enter" if character == "\n" else character
        yield Key(name=name, pause_ms=_pause(character, chance))


def _pause(character: str, chance: random.Random) -> float:
    """A median of 110 ms inside words; longer at their ends, and a thought before some lines."""
    pause = chance.lognormvariate(4.7, 0.35)
    if character == " ":
        pause *= 1.4
    if character == "\n" and chance.random() < 0.4:
        pause += chance.uniform(400, 1500)
    return min(pause, 3000)
