"""Draws training holes in source files, of the kinds that an editor asks for.

The holes of a file depend only on the seed and on that file. Knows no tokens.
"""

import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.text import columns, line_at, line_end, line_start, next_line_start
from intarsia_research.corpus.corpus_file import CorpusFile
from intarsia_research.holes.cut_holes import CutHole, CutHoleKind, cut_holes

TrainingHoleKind: TypeAlias = CutHoleKind | Literal["span"]
"""A span begins and ends anywhere in the code, within words and over several lines."""

KIND_WEIGHTS: dict[TrainingHoleKind, float] = {
    "rest_of_line": 0.15,
    "line": 0.08,
    "inside_word": 0.08,
    "span": 0.50,
    "expression": 0.04,
    "arguments": 0.04,
    "block": 0.11,
}
"""The probability of each kind, in a file that has holes of every kind."""

SHARE_EXTENDED = 0.5
"""The share of holes at a line's end that are extended over the following lines. A request for one
line is stopped at the line end anyway, so the model's own end matters for several lines."""

MAX_FURTHER_LINES = 5
MAX_SPAN_LINES = 8
SPAN_TRIES = 5
SHARE_FROM_WHOLE_LINES = 0.5
SHARE_TO_WHOLE_LINES = 0.4
"""The shares of spans that begin and end at the edge of a line. Without them every hole before a
line end would be one line."""

MAX_PREFIX_CHARS = 6_000
MAX_SUFFIX_CHARS = 2_500
MAX_HOLE_CHARS = 1_200

_ENDS_WITH_LINE: frozenset[CutHoleKind] = frozenset({"line", "rest_of_line", "inside_word"})


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingHole:
    """``prefix + hole + suffix`` is part of a file of ``package`` (``ecosystem:name``)."""

    prefix: str
    hole: str
    suffix: str
    kind: TrainingHoleKind
    language: str  # LSP language id
    package: str
    path: str  # within the package
    chunks: tuple[tuple[str, str], ...] = ()
    """Path and text of what is read of the package's other files, in the order of reading."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cut:
    """``text[start:end]`` of a file is the hole."""

    kind: TrainingHoleKind
    start: int
    end: int


def draw_holes(files: Iterable[CorpusFile], *, seed: int, per_file: int) -> Iterator[TrainingHole]:
    """Draw ``per_file`` different holes in each file, or all if it has fewer."""
    for file in files:
        rng = random.Random(f"{seed}:{file.sha256}")
        for hole in draw_cuts(file, rng, per_file):
            yield training_hole(file, hole)


def draw_cuts(file: CorpusFile, rng: random.Random, num_holes: int) -> Iterator[Cut]:
    """Draw different holes of a file, fewer if it has not as many or some are too long."""
    by_kind = cut_holes(file.text, language_for_id(file.language))
    left: dict[TrainingHoleKind, list[Cut]] = {
        kind: [Cut(kind=kind, start=hole.start, end=hole.end) for hole in holes]
        for kind, holes in by_kind.items()
    }
    left["span"] = _spans(file.text, by_kind, rng, num_holes)
    left = {kind: left[kind] for kind in KIND_WEIGHTS if left[kind]}
    for _ in range(num_holes):
        if not left:
            return
        kind = rng.choices(list(left), [KIND_WEIGHTS[kind] for kind in left])[0]
        holes = left[kind]
        hole = holes.pop(rng.randrange(len(holes)))
        if not holes:
            del left[kind]
        if kind in _ENDS_WITH_LINE and rng.random() < SHARE_EXTENDED:
            hole = _extended(file.text, hole, rng.randint(1, MAX_FURTHER_LINES))
        if hole.end - hole.start <= MAX_HOLE_CHARS:
            yield hole


def training_hole(file: CorpusFile, hole: Cut) -> TrainingHole:
    """Return a hole of a file with the text around it."""
    text = file.text
    return TrainingHole(
        prefix=_from_line_start(text, hole.start),
        hole=text[hole.start : hole.end],
        suffix=_to_line_end(text, hole.end),
        kind=hole.kind,
        language=file.language,
        package=file.package_name,
        path=file.path,
    )


def _spans(
    text: str,
    by_kind: Mapping[CutHoleKind, Sequence[CutHole]],
    rng: random.Random,
    num_spans: int,
) -> list[Cut]:
    """Draw different spans. They begin and end at line edges, as a selection does, or where other
    holes begin, which may be within a word."""
    within = sorted({hole.start for kind in _ENDS_WITH_LINE for hole in by_kind[kind]})
    whole = sorted({edge for at in within for edge in (line_start(text, at), line_end(text, at))})
    spans: set[tuple[int, int]] = set()
    for _ in range(SPAN_TRIES * num_spans if within else 0):
        if len(spans) == num_spans:
            break
        first = rng.choice(whole if rng.random() < SHARE_FROM_WHOLE_LINES else within)
        furthest = first
        for _ in range(rng.randint(1, MAX_SPAN_LINES)):
            furthest = next_line_start(text, furthest)
        edges = whole if rng.random() < SHARE_TO_WHOLE_LINES else within
        beyond = edges[bisect_right(edges, first) : bisect_right(edges, furthest)]
        last = rng.choice(beyond) if beyond else first
        if text[first:last].strip():
            spans.add((first, last))
    return [Cut(kind="span", start=start, end=end) for start, end in sorted(spans)]


def _extended(text: str, hole: Cut, num_lines: int) -> Cut:
    """Extend a hole over the lines below that are indented as its own line, or deeper."""
    own_columns = columns(line_at(text, hole.start))
    end = hole.end
    for _ in range(num_lines):
        start = next_line_start(text, end)
        line = text[start : line_end(text, start)]
        if not line.strip() or columns(line) < own_columns:
            break
        end = start + len(line.rstrip())
    return replace(hole, end=end)


def _from_line_start(text: str, end: int) -> str:
    """Return the text before an offset, cut to MAX_PREFIX_CHARS at a line start."""
    if end <= MAX_PREFIX_CHARS:
        return text[:end]
    start = text.find("\n", end - MAX_PREFIX_CHARS, end) + 1
    return text[start or end - MAX_PREFIX_CHARS : end]


def _to_line_end(text: str, start: int) -> str:
    """Return the text after an offset, cut to MAX_SUFFIX_CHARS at a line end."""
    if len(text) - start <= MAX_SUFFIX_CHARS:
        return text[start:]
    end = text.rfind("\n", start, start + MAX_SUFFIX_CHARS) + 1
    return text[start : end or start + MAX_SUFFIX_CHARS]
