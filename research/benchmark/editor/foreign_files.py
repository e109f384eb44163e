"""Choose files of installed packages to work on, and places in them where code is being written.

Neither package is in a training corpus. The choice is seeded: the same versions of the packages
give the same files and places.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from intarsia_research.errors import BenchmarkFault

PACKAGES = ("rich", "fsspec")
"""Both are installed with us. The first has type annotations, the second has nearly none."""

_SEED = 7
_FEWEST_LINES = 250  # so that a jump of 150 lines fits, from anywhere
_FEWEST_CHARACTERS = 16  # of a line's code
_FEWEST_CODE_SHARE = 0.3  # of lines with as much
_WORD_START = re.compile(r"(?<=[\s(.=,\[])\w")


@dataclass(frozen=True, kw_only=True, slots=True)
class ForeignFile:
    """One file of a foreign package."""

    package: str
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Cut:
    """``text[start:end]`` is the rest of a line from a word on: what the user has yet to write."""

    start: int
    end: int


def foreign_files(package: str, count: int) -> list[ForeignFile]:
    """Return up to ``count`` long files of a package. Raises BenchmarkFault if it is missing."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise BenchmarkFault(f"the package {package} is not installed: pip install {package}")
    folder = Path(spec.submodule_search_locations[0])
    paths = sorted(folder.rglob("*.py"))
    random.Random(_SEED).shuffle(paths)
    files = (
        ForeignFile(package=package, path=path, text=path.read_text(encoding="utf-8"))
        for path in paths
        if "test" not in path.as_posix().removeprefix(folder.as_posix())
    )
    return [it for it in files if _is_long_code(it.text)][:count]


def cut_in_lines(text: str, lines: Sequence[int], chosen: random.Random) -> Cut | None:
    """Cut one of these lines at the start of a word, None if no line holds enough code."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    cuts = [
        cuts
        for number in lines
        if 0 <= number < len(starts) - 1
        and (cuts := _cuts_of(text, starts[number], starts[number + 1] - 1))
    ]
    return chosen.choice(chosen.choice(cuts)) if cuts else None


def _is_long_code(text: str) -> bool:
    """Return whether a file is long enough, and not mostly a table of data."""
    lines = text.splitlines()
    num_code = sum(_is_code(line.strip()) for line in lines)
    return len(lines) >= _FEWEST_LINES and num_code >= _FEWEST_CODE_SHARE * len(lines)


def _is_code(code: str) -> bool:
    return len(code) >= _FEWEST_CHARACTERS and code[0].isalpha()


def _cuts_of(text: str, start: int, end: int) -> list[Cut]:
    line = text[start:end]
    if not _is_code(line.strip()):
        return []
    first = len(line) - len(line.lstrip()) + 1
    return [Cut(start + match.start(), end) for match in _WORD_START.finditer(line, first)]
