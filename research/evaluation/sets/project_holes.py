"""Finds all holes of one package that use a name from another of its files.

A hole is the rest of a line, from the name on. Something precedes it on the line.
"""

import random
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from intarsia.infill.languages import Language
from intarsia.infill.syntax.parse import parse_afresh
from intarsia.research.evaluation.case import Case
from intarsia.research.evaluation.sets.cut_case import cut_case
from intarsia.research.evaluation.sets.source_files import (
    CodeFile,
    find_source_files,
    read_source_file,
)
from intarsia.research.holes.code_map import STRING, map_code
from intarsia.research.holes.cut_holes import CutHole, cut_holes
from intarsia.research.holes.imported_uses import FileUses, Package

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
) -> Iterator[ProjectHole]:
    """Yield the holes in a package's files of one language, in random order; tests have none.

    First comes one hole of each file, then a second one, and so on. ``root`` is the package's
    folder; the cases are named by ``name`` and by the path within it.
    """
    package = Package(_texts(root))
    files = [
        file
        for file in find_source_files([root])
        if _FAMILY.get(file.language.id, file.language.id) == language
        and not _TEST.search(file.name)
    ]
    chance.shuffle(files)
    waiting = deque(_holes_of(file, name, root, package, chance) for file in files)
    while waiting:
        holes = waiting.popleft()
        hole = next(holes, None)
        if hole is not None:
            waiting.append(holes)
            yield hole


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    """One file of a package."""

    name: str
    root: Path
    path: str
    text: str

    def case(self, hole: CutHole, language: Language, used: str) -> Case:
        path = f"{self.name}/{self.path}"
        case = cut_case(self.text, hole, path=path, language=language, set_name=SET_NAME)
        return replace(case, path=self.path, root=self.root, name=used)


def _holes_of(
    file: CodeFile, name: str, root: Path, package: Package, chance: random.Random
) -> Iterator[ProjectHole]:
    """Yield the holes of a file in random order. It is read when the first one is asked for."""
    text = read_source_file(file)
    if text is not None:
        source = _Source(name=name, root=root, path=file.name, text=text)
        holes = list(_file_holes(source, file.language, package.uses(file.name)))
        yield from chance.sample(holes, len(holes))


def _file_holes(source: _Source, language: Language, found: FileUses) -> Iterator[ProjectHole]:
    if not found.uses:
        return
    text = source.text
    syntax = parse_afresh(text, language)
    codes = map_code(syntax) if syntax else bytearray(len(text))
    holes = {
        hole.start: hole for hole in cut_holes(text, language, ["rest_of_line"])["rest_of_line"]
    }
    for use in found.uses:
        hole = holes.get(use.start)
        if hole is None or len(use.name) < FEWEST_NAME_CHARS:
            continue
        is_prose = codes.count(STRING, hole.start, hole.end) > MAX_STRING_CHARS
        if is_prose or hole.end - hole.start > MAX_TRUTH_CHARS:
            continue
        num_known = _num_known(text, use.name, hole, found.imports)
        if num_known <= MAX_KNOWN_USES:
            case = source.case(hole, language, use.name)
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


def _texts(root: Path) -> dict[str, str]:
    """Return the texts of all files, by path; one that is no text is left out."""
    texts: dict[str, str] = {}
    for file in sorted(root.rglob("*")):
        if file.is_file() and not file.is_symlink():
            try:
                texts[PurePosixPath(file.relative_to(root)).as_posix()] = file.read_bytes().decode()
            except (OSError, UnicodeDecodeError):
                continue
    return texts
