"""Draws training holes that read code of other files, as a fill in an opened folder does.

A package's files of the corpus are written to a temporary folder and indexed by the product's own
index. Chunks are chosen by the product's own choice, for the file with the hole cut out. Many of
these holes begin with a name that another file defines: there the chunks decide.
"""

import random
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path, PurePosixPath
from typing import Literal

from intarsia.infill.filling.plan import FillOptions, FillPlan, plan_fill
from intarsia.infill.holes.hole import hole_for_range
from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.text import line_at
from intarsia.workspace.context.chunk import ChunkOptions
from intarsia_research.corpus.corpus_file import CorpusFile
from intarsia_research.holes.cut_holes import cut_holes
from intarsia_research.holes.cut_project import CutProjects
from intarsia_research.training.draw_holes import (
    Cut,
    TrainingHole,
    draw_cuts,
    draw_holes,
    training_hole,
)

SHARE_OF_NAMES = 0.65
"""The share of holes with chunks that begin with a name of another file."""

SHARE_UNCHECKED = 0.3
"""The share of such holes that are taken whether or not the chunks show the name: what the product
chooses does not always help."""

BUDGET_TOKENS = (100, 500)
"""The least and the most tokens of chunks; each hole draws its own budget."""

TRIES = 2
"""How many holes with a name are tried for one that the chunks show."""

NAMED: Literal["rest_of_line"] = "rest_of_line"
"""The kind of a hole that begins with a name of another file."""

FEWEST_NAME_CHARS = 3
MAX_NAME_HOLE_CHARS = 160
MAX_DEFINING_FILES = 3
"""A name that more files define, such as ``get``, says nothing about any of these files."""

MAX_KNOWN_USES = 2
CHARS_BEFORE, CHARS_AFTER = 1_600, 500
"""A name that the file has more often within these many characters of the hole is known already."""

_NAME = re.compile(r"[^\W\d]\w*")
_IMPORT = re.compile(r"\s*(?:import|from|use|using|package|require|#\s*include|export\b.*\bfrom)\b")


def draw_holes_in_projects(
    files: Iterable[CorpusFile],
    *,
    seed: int,
    per_file: int,
    share: float,
    chosen: Collection[str] | None = None,
) -> Iterator[TrainingHole]:
    """Draw holes in each file; ``share`` is the probability that one reads other files.

    ``chosen`` are the names of the files with holes, None for all; the others are only read.

    Where no chunk is found the hole is one without, so the share of holes with chunks is smaller.
    Files of one package must follow each other. The same files and seed give the same holes.
    """
    projects = CutProjects()
    try:
        for _, group in groupby(files, key=lambda file: file.package_name):
            package = list(group)
            with_holes = [one for one in package if chosen is None or one.name in chosen]
            if not with_holes:
                continue
            with tempfile.TemporaryDirectory(prefix="intarsia-package-") as folder:
                root = Path(folder) / "package"
                _write(package, root)
                project = _Project(projects, root)
                for file in with_holes:
                    yield from _of_file(file, project, seed=seed, per_file=per_file, share=share)
    finally:
        projects.close()


def _of_file(
    file: CorpusFile, project: "_Project", *, seed: int, per_file: int, share: float
) -> Iterator[TrainingHole]:
    rng = random.Random(f"{seed}:project:{file.sha256}")
    num_wanted = sum(rng.random() < share for _ in range(per_file))
    found = list(_with_chunks(file, project, rng, num_wanted))
    yield from found
    if len(found) < per_file:
        yield from draw_holes([file], seed=seed, per_file=per_file - len(found))


def _with_chunks(
    file: CorpusFile, project: "_Project", rng: random.Random, num_holes: int
) -> Iterator[TrainingHole]:
    """Yield different holes of a file that have chunks, at most ``num_holes``."""
    taken: set[int] = set()
    names: Iterator[Cut] | None = None
    for _ in range(num_holes):
        has_name, must_show = rng.random() < SHARE_OF_NAMES, rng.random() >= SHARE_UNCHECKED
        budget_tokens, hole = rng.randint(*BUDGET_TOKENS), None
        if has_name:
            names = project.name_cuts(file, rng) if names is None else names
            tried = islice(names, TRIES)
            hole = project.first_read(file, tried, budget_tokens, must_show=must_show)
        hole = hole or project.first_read(file, draw_cuts(file, rng, 1), budget_tokens)
        if hole is not None and hole.start not in taken:
            taken.add(hole.start)
            yield hole.hole


@dataclass(frozen=True, kw_only=True, slots=True)
class _Read:
    start: int
    hole: TrainingHole


class _Project:
    """A package on disk, and the choice of chunks in it."""

    def __init__(self, projects: CutProjects, root: Path) -> None:
        self._projects = projects
        self._root = root
        self._definers: dict[str, list[str]] = {}

    def first_read(
        self, file: CorpusFile, cuts: Iterable[Cut], budget_tokens: int, *, must_show: bool = False
    ) -> _Read | None:
        """Return the first hole with chunks, None if none has any.

        ``must_show``: the chunks have the name that the hole begins with.
        """
        options = ChunkOptions(budget_tokens=budget_tokens)
        for cut in cuts:
            chunks = self._projects.chunks(self._root, file.path, _plan(file, cut), options)
            name = _name_at(file.text, cut.start) if must_show else None
            is_shown = name is None or any(name in _NAME.findall(one.text) for one in chunks)
            if chunks and is_shown:
                texts = tuple((chunk.path, chunk.text) for chunk in chunks)
                return _Read(start=cut.start, hole=replace(training_hole(file, cut), chunks=texts))
        return None

    def name_cuts(self, file: CorpusFile, rng: random.Random) -> Iterator[Cut]:
        """Yield the rests of lines that begin with a name of another file, in random order."""
        holes = cut_holes(file.text, language_for_id(file.language), [NAMED])[NAMED]
        for hole in rng.sample(holes, len(holes)):
            name = _name_at(file.text, hole.start)
            if (
                name is not None
                and hole.end - hole.start <= MAX_NAME_HOLE_CHARS
                and not _IMPORT.match(line_at(file.text, hole.start))
                and _num_known(file.text, name, hole.start, hole.end) <= MAX_KNOWN_USES
                and self._is_of_others(name, file.path)
            ):
                yield Cut(kind=NAMED, start=hole.start, end=hole.end)

    def _is_of_others(self, name: str, path: str) -> bool:
        if name not in self._definers:
            limit = MAX_DEFINING_FILES + 1
            self._definers[name] = self._projects.defining_files(self._root, name, limit=limit)
        found = self._definers[name]
        return 0 < len(found) <= MAX_DEFINING_FILES and path not in found


def _plan(file: CorpusFile, cut: Cut) -> FillPlan:
    """Plan the fill of a hole in the text that has nothing in it."""
    text, language = file.text[: cut.start] + file.text[cut.end :], language_for_id(file.language)
    hole = hole_for_range(text, cut.start, cut.start, language)
    return plan_fill(hole, FillOptions())


def _name_at(text: str, offset: int) -> str | None:
    """Return the name that begins at an offset, None for a short one or the rest of a word."""
    match = _NAME.match(text, offset)
    is_inside = offset > 0 and (text[offset - 1].isalnum() or text[offset - 1] == "_")
    if match is None or is_inside or len(match.group()) < FEWEST_NAME_CHARS:
        return None
    return match.group()


def _num_known(text: str, name: str, start: int, end: int) -> int:
    """Return how often the code around a hole has the name."""
    around = text[max(0, start - CHARS_BEFORE) : start] + " " + text[end : end + CHARS_AFTER]
    return _NAME.findall(around).count(name)


def _write(files: Iterable[CorpusFile], root: Path) -> None:
    """Write files below a folder. A path that would leave it, or is no path here, is left out."""
    for file in files:
        inside = PurePosixPath(file.path)
        if inside.is_absolute() or ".." in inside.parts or "\\" in file.path:
            continue
        path = root / inside
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.text.encode())
        except (OSError, ValueError):  # a name that is too long, or a file and a folder in one
            continue
