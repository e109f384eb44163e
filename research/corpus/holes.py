"""Files of a corpus → training holes, drawn as an editor meets them.

Comes in: files in any order; goes out: text before, in and behind each hole. What is drawn in a
file depends on the seed and on the file alone. Knows no tokens.
"""

import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.lines import columns, line_at, line_end, line_start, next_line_start
from intarsia.research.corpus.corpus_file import CorpusFile
from intarsia.research.holes.cut_holes import CutHole, CutHoleKind, cut_holes

TrainingHoleKind: TypeAlias = CutHoleKind | Literal["span"]
"""A span goes from one place in code to any other, within words and over lines."""

KIND_WEIGHTS: dict[TrainingHoleKind, float] = {
    "rest_of_line": 0.15,
    "line": 0.08,
    "inside_word": 0.08,
    "span": 0.50,
    "expression": 0.04,
    "arguments": 0.04,
    "block": 0.11,
}
"""How often which kind is drawn, where a file has holes of every kind."""

SHARE_THAT_GOES_ON = 0.5
"""So many of the holes that end with their line go on over lines that belong to it. A cursor's line
is ended by its line end whatever the model says: its "end" matters where several lines are asked
for, so that those may be as many."""

MAX_FURTHER_LINES = 5
MAX_SPAN_LINES = 8
SPAN_TRIES = 5
SHARE_FROM_WHOLE_LINES = 0.5
SHARE_TO_WHOLE_LINES = 0.4
"""So many spans begin or end at the edge of a line: else one that ends there would be a line."""

MAX_PREFIX_CHARS = 6_000
MAX_SUFFIX_CHARS = 2_500
MAX_HOLE_CHARS = 1_200

_ENDS_WITH_LINE: frozenset[CutHoleKind] = frozenset({"line", "rest_of_line", "inside_word"})


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingHole:
    """``prefix + hole + suffix`` is a stretch of a file of ``package`` (``ecosystem:name``)."""

    prefix: str
    hole: str
    suffix: str
    kind: TrainingHoleKind
    language: str  # LSP language id
    package: str
    path: str  # of the file, in its package


def draw_holes(files: Iterable[CorpusFile], *, seed: int, per_file: int) -> Iterator[TrainingHole]:
    """Draw so many different holes in each file, fewer where it has no more."""
    for file in files:
        luck = random.Random(f"{seed}:{file.sha256}")
        for hole in _drawn(file, luck, per_file):
            yield _with_context(file, hole)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cut:
    """``text[start:end]`` is to be learnt."""

    kind: TrainingHoleKind
    start: int
    end: int


def _drawn(file: CorpusFile, luck: random.Random, num_holes: int) -> Iterator[_Cut]:
    found = cut_holes(file.text, language_for_id(file.language))
    left: dict[TrainingHoleKind, list[_Cut]] = {
        kind: [_Cut(kind=kind, start=hole.start, end=hole.end) for hole in holes]
        for kind, holes in found.items()
    }
    left["span"] = _spans(file.text, found, luck, num_holes)
    left = {kind: left[kind] for kind in KIND_WEIGHTS if left[kind]}
    for _ in range(num_holes):
        if not left:
            return
        kind = luck.choices(list(left), [KIND_WEIGHTS[it] for it in left])[0]
        holes = left[kind]
        hole = holes.pop(luck.randrange(len(holes)))
        if not holes:
            del left[kind]
        if kind in _ENDS_WITH_LINE and luck.random() < SHARE_THAT_GOES_ON:
            hole = _gone_on(file.text, hole, luck.randint(1, MAX_FURTHER_LINES))
        if hole.end - hole.start <= MAX_HOLE_CHARS:
            yield hole


def _spans(
    text: str,
    found: Mapping[CutHoleKind, Sequence[CutHole]],
    luck: random.Random,
    num_spans: int,
) -> list[_Cut]:
    """Draw different spans: between whole lines as a selection is, or from within a line, to where
    others begin, within words too."""
    within = sorted({hole.start for kind in _ENDS_WITH_LINE for hole in found[kind]})
    whole = sorted({edge for at in within for edge in (line_start(text, at), line_end(text, at))})
    spans: set[tuple[int, int]] = set()
    for _ in range(SPAN_TRIES * num_spans if within else 0):
        if len(spans) == num_spans:
            break
        first = luck.choice(whole if luck.random() < SHARE_FROM_WHOLE_LINES else within)
        furthest = first
        for _ in range(luck.randint(1, MAX_SPAN_LINES)):
            furthest = next_line_start(text, furthest)
        edges = whole if luck.random() < SHARE_TO_WHOLE_LINES else within
        beyond = edges[bisect_right(edges, first) : bisect_right(edges, furthest)]
        last = luck.choice(beyond) if beyond else first
        if text[first:last].strip():
            spans.add((first, last))
    return [_Cut(kind="span", start=start, end=end) for start, end in sorted(spans)]


def _gone_on(text: str, hole: _Cut, num_lines: int) -> _Cut:
    """Let a hole run on over the lines below that are indented as its own, or deeper."""
    own_columns = columns(line_at(text, hole.start))
    end = hole.end
    for _ in range(num_lines):
        start = next_line_start(text, end)
        line = text[start : line_end(text, start)]
        if not line.strip() or columns(line) < own_columns:
            break
        end = start + len(line.rstrip())
    return replace(hole, end=end)


def _with_context(file: CorpusFile, hole: _Cut) -> TrainingHole:
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


def _from_line_start(text: str, end: int) -> str:
    """Return what stands before an offset, without the part of a line that it would begin with."""
    if end <= MAX_PREFIX_CHARS:
        return text[:end]
    start = text.find("\n", end - MAX_PREFIX_CHARS, end) + 1
    return text[start or end - MAX_PREFIX_CHARS : end]


def _to_line_end(text: str, start: int) -> str:
    """Return what stands behind an offset, without the part of a line that it would end with."""
    if len(text) - start <= MAX_SUFFIX_CHARS:
        return text[start:]
    end = text.rfind("\n", start, start + MAX_SUFFIX_CHARS) + 1
    return text[start : end or start + MAX_SUFFIX_CHARS]
