"""Files of a corpus → training holes, drawn as an editor meets them.

Comes in: files in any order; goes out: text before, in and behind each hole. What is drawn in a
file depends on the seed and on the file alone. Knows no tokens.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from intarsia.corpus.corpus_file import CorpusFile
from intarsia.infill.known_holes import KnownHole, KnownHoleKind, known_holes
from intarsia.infill.languages import language_for_id
from intarsia.infill.lines import columns, line_end, line_round, next_line_start

KIND_WEIGHTS: dict[KnownHoleKind, float] = {
    "rest_of_line": 0.35,
    "line": 0.20,
    "inside_word": 0.15,
    "expression": 0.10,
    "arguments": 0.10,
    "block": 0.10,
}
"""How often which kind is drawn, where a file has holes of every kind."""

SHARE_THAT_GOES_ON = 0.25
"""So many of the holes that end with their line go on over lines that belong to it."""

MAX_FURTHER_LINES = 3
MAX_PREFIX_CHARS = 6_000
MAX_SUFFIX_CHARS = 2_500
MAX_HOLE_CHARS = 1_200

_ENDS_WITH_LINE: frozenset[KnownHoleKind] = frozenset({"line", "rest_of_line", "inside_word"})


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingHole:
    """``prefix + hole + suffix`` is a stretch of a file of ``package`` (``ecosystem:name``)."""

    prefix: str
    hole: str
    suffix: str
    kind: KnownHoleKind
    language: str  # LSP language id
    package: str
    path: str  # of the file, in its package


def draw_holes(files: Iterable[CorpusFile], *, seed: int, per_file: int) -> Iterator[TrainingHole]:
    """Draw so many different holes in each file, fewer where it has no more."""
    for file in files:
        luck = random.Random(f"{seed}:{file.sha256}")
        for hole in _drawn(file, luck, per_file):
            yield _with_context(file, hole)


def _drawn(file: CorpusFile, luck: random.Random, num_holes: int) -> Iterator[KnownHole]:
    found = known_holes(file.text, language_for_id(file.language))
    left = {kind: list(found[kind]) for kind in KIND_WEIGHTS if found.get(kind)}
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


def _gone_on(text: str, hole: KnownHole, num_lines: int) -> KnownHole:
    """Let a hole run on over the lines below that are indented as its own, or deeper."""
    own_columns = columns(line_round(text, hole.start))
    end = hole.end
    for _ in range(num_lines):
        start = next_line_start(text, end)
        line = text[start : line_end(text, start)]
        if not line.strip() or columns(line) < own_columns:
            break
        end = start + len(line.rstrip())
    return KnownHole(kind=hole.kind, start=hole.start, end=end)


def _with_context(file: CorpusFile, hole: KnownHole) -> TrainingHole:
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
