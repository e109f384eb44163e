"""Single lines cut out of standard-library files: holes that nobody prepared.

The choice is seeded: the same Python gives the same holes. Each file is used once, so that no
hole finds its context in the engine's cache.
"""

import random
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

_SEED = 7
_FEWEST_LINES = 300
_FEWEST_CHARACTERS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class CutLine:
    """``text[start:end]`` is a whole line without its indentation."""

    file: str
    text: str
    start: int
    end: int


def cut_lines(count: int) -> list[CutLine]:
    """Return so many holes, one a file."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(folder.glob("[a-z]*.py"))
    chosen = random.Random(_SEED)
    chosen.shuffle(files)
    return list(islice(_cut_each(files, chosen), count))


def long_source(num_lines: int) -> str:
    """Return the first so many lines of the first standard-library file that has them."""
    folder = Path(sysconfig.get_path("stdlib"))
    for file in sorted(folder.glob("[a-z]*.py")):
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        if len(lines) >= num_lines:
            return "".join(lines[:num_lines])
    raise FileNotFoundError(f"no file of {num_lines:,} lines in {folder}: install all of Python")


def _cut_each(files: list[Path], chosen: random.Random) -> Iterator[CutLine]:
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines(keepends=True)
        worthy = [
            number for number in range(len(lines) // 3, len(lines)) if _is_worthy(lines[number])
        ]
        if len(lines) >= _FEWEST_LINES and worthy:
            yield _cut(file.name, text, lines, chosen.choice(worthy))


def _is_worthy(line: str) -> bool:
    """Only code that says something: no blanks, comments or lone brackets."""
    words = line.strip()
    return len(words) >= _FEWEST_CHARACTERS and words[0].isalpha()


def _cut(name: str, text: str, lines: list[str], number: int) -> CutLine:
    line = lines[number]
    offset = sum(map(len, lines[:number]))
    start = offset + len(line) - len(line.lstrip())
    return CutLine(file=name, text=text, start=start, end=offset + len(line.rstrip()))
