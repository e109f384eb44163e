"""Cases from any source files: holes cut where an editor would have them.

The same files and seed give the same holes, wherever the files are.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case, CaseKind
from intarsia_research.evaluation.sets.cut_case import cut_case, hole_kinds, language_ids
from intarsia_research.evaluation.sets.source_files import (
    CodeFile,
    find_source_files,
    read_source_file,
)
from intarsia_research.evaluation.sets.take_turns import take_turns
from intarsia_research.holes.cut_holes import CutHole, CutHoleKind, cut_holes
from intarsia_research.holes.node_table import hole_nodes

SET_NAME = "repository"


def repository_cases(
    paths: Sequence[Path],
    *,
    languages: Sequence[str] | None,
    kinds: Sequence[CaseKind] | None,
    limit: int,
    seed: int,
) -> list[Case]:
    """Return at most ``limit`` cases; ``languages`` None: all programming languages.

    Raise EvaluationFault if a path or a name is wrong, or no file has such a hole.
    """
    ids = language_ids(languages) if languages else None
    files = [
        file
        for file in find_source_files(paths)
        if (hole_nodes(file.language) if ids is None else file.language.id in ids)
    ]
    drawn = _Draw(files, seed)
    found = sorted({file.language.id for file in files})
    sources: dict[tuple[str, str], Iterator[Case]] = {
        (language, kind): drawn.holes(language, kind)
        for language in found
        for kind in hole_kinds(kinds)
    }
    cases = list(islice(take_turns(sources, found, hole_kinds(kinds)), limit))
    if not cases:
        raise EvaluationFault("no hole in these files: give source files of a known language")
    return cases


class _Draw:
    """The files read and the holes cut so far. No two holes of a file overlap."""

    def __init__(self, files: Sequence[CodeFile], seed: int) -> None:
        self._files = files
        self._seed = seed
        self._opened: dict[str, tuple[str, dict[CutHoleKind, list[CutHole]]]] = {}
        self._cut: dict[str, list[CutHole]] = {}

    def holes(self, language: str, kind: CutHoleKind) -> Iterator[Case]:
        """Yield a hole of each file in turn, until no file has another."""
        files = [file for file in self._files if file.language.id == language]
        random.Random(f"{self._seed}:{language}:{kind}").shuffle(files)
        while files:
            left = []
            for file in files:
                case = self._next(file, kind)
                if case is not None:
                    left.append(file)
                    yield case
            files = left

    def _next(self, file: CodeFile, kind: CutHoleKind) -> Case | None:
        text, holes = self._open(file)
        cut = self._cut.setdefault(file.name, [])
        while holes[kind]:
            hole = holes[kind].pop()
            if all(hole.end <= other.start or other.end <= hole.start for other in cut):
                cut.append(hole)
                case = cut_case(
                    text, hole, path=file.name, language=file.language, set_name=SET_NAME
                )
                root = file.path.parents[file.name.count("/")]
                return replace(case, path=file.name, root=root)
        return None

    def _open(self, file: CodeFile) -> tuple[str, dict[CutHoleKind, list[CutHole]]]:
        opened = self._opened.get(file.name)
        if opened is None:
            text = read_source_file(file) or ""
            holes = cut_holes(text, file.language)
            chosen = random.Random(f"{self._seed}:{file.name}")
            opened = text, {kind: _shuffled(found, chosen) for kind, found in holes.items()}
            self._opened[file.name] = opened
        return opened


def _shuffled(holes: Sequence[CutHole], chosen: random.Random) -> list[CutHole]:
    """Return the holes in random order, only one of those with the same end."""
    order = list(holes)
    chosen.shuffle(order)
    return list({hole.end: hole for hole in order}.values())
