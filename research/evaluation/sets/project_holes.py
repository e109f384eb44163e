"""Finds all holes of one package that use a name from another of its files.

A hole is the rest of a line, from the name on. Something precedes it on the line.
"""

import random
import re
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from intarsia.infill.languages import Language
from intarsia.infill.syntax.tree import parse_afresh
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.sets.cut_case import cut_case
from intarsia_research.evaluation.sets.source_files import (
    CodeFile,
    find_source_files,
    read_source_file,
)
from intarsia_research.holes.cut_holes import STRING, CutHole, cut_holes, map_code
from intarsia_research.holes.imported_uses import Package

SET_NAME = "project"

CHARS_BEFORE, CHARS_AFTER = 6_000, 1_500
"""What the widest window shows. A name that occurs in it, besides imports, is not new."""

MAX_KNOWN_USES = 2
MAX_TRUTH_CHARS = 160
MAX_STRING_CHARS = 24
"""As in the built-in set: prose cannot be guessed word for word."""

FEWEST_NAME_CHARS = 3
_TEST = re.compile(r"(?:^|/)(?:conftest|test_[^/]*|[^/]*_test)\.py$|\.(?:test|spec)\.[a-z]+$")
_FAMILY = {"typescriptreact": "typescript"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectHole:
    """A case, and whether its window has the name nowhere but in an import."""

    case: Case
    is_new: bool


def project_holes(
    name: str, root: Path, language: str, chance: random.Random
) -> Generator[ProjectHole]:
    """Yield the holes in a package's files of one language, in random order; tests have none.

    First comes one hole of each file, then a second one, and so on. ``root`` is the package's
    folder; the cases are named by ``name`` and by the path within it.
    """
    package = Package(texts_of(root))

    def holes_of(source: PackageFile) -> Iterator[ProjectHole]:
        found = package.uses(source.path)
        if found.uses:
            names = {use.start: use.name for use in found.uses}
            yield from file_holes(source, names, found.imports)

    yield from holes_in_rounds(name, root, language, holes_of, chance)


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageFile:
    """One file of a package."""

    name: str  # of the package
    root: Path
    path: str
    text: str
    language: Language

    def case(self, hole: CutHole, used: str, set_name: str) -> Case:
        """Return the case of a hole that begins with the name ``used``."""
        path = f"{self.name}/{self.path}"
        case = cut_case(self.text, hole, path=path, language=self.language, set_name=set_name)
        return replace(case, path=self.path, root=self.root, name=used)


def holes_in_rounds(
    name: str,
    root: Path,
    language: str,
    holes_of: Callable[[PackageFile], Iterator[ProjectHole]],
    chance: random.Random,
) -> Iterator[ProjectHole]:
    """Yield one hole of each file in random order, then a second one, and so on."""
    files = [
        file
        for file in find_source_files([root])
        if _FAMILY.get(file.language.id, file.language.id) == language
        and not _TEST.search(file.name)
    ]
    chance.shuffle(files)

    def of_file(file: CodeFile) -> Iterator[ProjectHole]:
        text = read_source_file(file)
        if text is not None:
            source = PackageFile(
                name=name, root=root, path=file.name, text=text, language=file.language
            )
            holes = list(holes_of(source))
            yield from chance.sample(holes, len(holes))

    waiting = deque(map(of_file, files))
    while waiting:
        holes = waiting.popleft()
        hole = next(holes, None)
        if hole is not None:
            waiting.append(holes)
            yield hole


def file_holes(
    source: PackageFile,
    names: Mapping[int, str],
    imports: Sequence[tuple[int, int]],
    set_name: str = SET_NAME,
) -> Iterator[ProjectHole]:
    """Yield the holes of a file that begin at one of these offsets with the name there."""
    text, language = source.text, source.language
    syntax = parse_afresh(text, language)
    codes = map_code(syntax) if syntax else bytearray(len(text))
    holes = {
        hole.start: hole for hole in cut_holes(text, language, ["rest_of_line"])["rest_of_line"]
    }
    for start, name in names.items():
        hole = holes.get(start)
        if hole is None or len(name) < FEWEST_NAME_CHARS:
            continue
        is_prose = codes.count(STRING, hole.start, hole.end) > MAX_STRING_CHARS
        if is_prose or hole.end - hole.start > MAX_TRUTH_CHARS:
            continue
        num_known = _num_known(text, name, hole, imports)
        if num_known <= MAX_KNOWN_USES:
            case = source.case(hole, name, set_name)
            yield ProjectHole(case=case, is_new=not num_known)


def _num_known(text: str, name: str, hole: CutHole, imports: Sequence[tuple[int, int]]) -> int:
    """Return how often the window has the name, besides the hole and the imports."""
    start, end = max(0, hole.start - CHARS_BEFORE), hole.end + CHARS_AFTER
    places = (match.start() for match in re.finditer(rf"\b{re.escape(name)}\b", text[start:end]))
    return sum(
        not (hole.start <= start + place < hole.end)
        and not any(first <= start + place < last for first, last in imports)
        for place in places
    )


def texts_of(root: Path) -> dict[str, str]:
    """Return the texts of all files, by path; one that is no text is left out."""
    texts: dict[str, str] = {}
    for file in sorted(root.rglob("*")):
        if file.is_file() and not file.is_symlink():
            try:
                texts[PurePosixPath(file.relative_to(root)).as_posix()] = file.read_bytes().decode()
            except (OSError, UnicodeDecodeError):
                continue
    return texts
