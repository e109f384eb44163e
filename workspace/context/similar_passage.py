"""Passages of other files: what the user edited there, what is similar to the place, and its test.

A test shows how the code is called; the tested file shows what can be called.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from intarsia.workspace.context.candidate import Surroundings
from intarsia.workspace.context.chunk import Chunk, RecentEdit
from intarsia.workspace.context.passage import best_lines, known_lines, split_lines, written_passage
from intarsia.workspace.context.ranked import Reached, Relation
from intarsia.workspace.words import words_in

NUM_LINES_AROUND = 2
MAX_EDITS = 2


def recent_edits(around: Surroundings, max_chars: int) -> Iterator[Chunk]:
    """Yield the regions edited last, newest first, within the budget together."""
    num_found = 0
    for edit in around.place.recent_edits:
        text = _written(around, edit, max_chars)
        if text is None:
            continue
        yield Chunk(path=edit.path, text=text, kind="recent_edit", reason="edited just now")
        max_chars -= around.cost(edit.path, text)
        num_found += 1
        if num_found == MAX_EDITS:
            return


def _written(around: Surroundings, edit: RecentEdit, max_chars: int) -> str | None:
    if not around.may_show(edit.path):
        return None
    lines = split_lines(edit.text)
    first = max(0, edit.start_line - NUM_LINES_AROUND)
    room = max_chars - around.cost(edit.path, "")
    return written_passage(lines[first : edit.end_line + NUM_LINES_AROUND], around.known, room)


MAX_QUERY_WORDS = 16
NUM_CANDIDATES = 8
MIN_SIMILARITY = 0.4
"""The share of the hole's words, by weight, that a passage must have."""
MAX_LINES_MORE = 6
"""Lines after a passage that may be shown with it: what follows similar code is what is asked."""
MAX_LINES_BELOW, MAX_LINES_ABOVE = 24, 12
"""Lines around it that may be shown, too, where other code leaves room for them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SimilarPassage:
    """A chunk, and its place: ``lines[first:last]`` of its file."""

    chunk: Chunk
    lines: Sequence[str]
    first: int
    last: int

    def widened(self, around: Surroundings, others: Sequence[Chunk], max_chars: int) -> Chunk:
        """Return the chunk with as many of the lines around it as fit into these characters.

        It repeats none of the ``others``, and none of these repeats it.
        """
        room = max_chars - around.cost(self.chunk.path, "")
        known = around.known.with_text("\n".join(one.text for one in others))
        for num_below in range(MAX_LINES_BELOW, 0, -1):
            num_above = num_below * MAX_LINES_ABOVE // MAX_LINES_BELOW
            lines = self.lines[max(0, self.first - num_above) : self.last + num_below]
            if sum(len(line) + 1 for line in lines) > room:
                continue
            text = written_passage(lines, known, room)
            if text is not None and not any(_repeats(one, text) for one in others):
                return replace(self.chunk, text=text)
        return self.chunk


def similar_passage(around: Surroundings, max_chars: int) -> SimilarPassage | None:
    """Return the most similar passage, None if none is similar enough."""
    weights = _query(around)
    if not weights:
        return None
    for share, path, lines, part in _candidates(around, weights):
        if share < MIN_SIMILARITY:
            return None
        room = max_chars - around.cost(path, "")
        first, last = best_lines(lines[part], weights, room)
        text = written_passage(lines[part][first:last], around.known, room)
        if text is not None:
            reason = f"similar to the code around the hole: {share:.0%} of its words"
            return SimilarPassage(
                chunk=Chunk(path=path, text=text, kind="similar", reason=reason),
                lines=lines,
                first=part.start + first,
                last=part.start + last,
            )
    return None


def _repeats(one: Chunk, text: str) -> bool:
    return known_lines(text).has_most_of(split_lines(one.text))


def _query(around: Surroundings) -> dict[str, float]:
    words = around.neighbourhood.words
    nearest = sorted(words, key=lambda word: (-words[word], word))[:MAX_QUERY_WORDS]
    return {word: words[word] for word in nearest}


def _candidates(
    around: Surroundings, weights: dict[str, float]
) -> list[tuple[float, str, list[str], slice]]:
    """Return passages, the best first: the share of the words, path, lines of the file, part."""
    found = []
    total = sum(weights.values())
    similar = around.index.similar(tuple(weights), path=around.place.path, limit=NUM_CANDIDATES)
    for passage in similar:
        text = around.text_of(passage.path)
        if text is None:
            continue
        lines = split_lines(text)
        part = slice(passage.start_line, passage.end_line + MAX_LINES_MORE)
        shared = words_in("\n".join(lines[part])) & weights.keys()
        share = sum(weights[word] for word in shared) / total
        found.append((share, passage.path, lines, part))
    return sorted(found, key=lambda one: -one[0])


MAX_LINES = 2_000
MIN_SHARED_WEIGHT = 1.5
"""A passage of a test that shares less with the hole's neighbourhood is left out."""

_TEST = re.compile(
    r"test_(?P<a>.+)|(?P<b>.+?)[._-](?:test|tests|spec|unittest)|(?P<c>.+?)(?:Tests?|Spec)"
)
_TEST_NAMES = ("test_{}", "{}_test", "{}.test", "{}.spec", "{}_spec", "{}-test", "{}_tests")
_TEST_NAMES_IN_CAPITALS = ("{}Test", "{}Tests", "{}Spec")


def tested_stem(stem: str) -> str | None:
    """Return the name that a test file tests, None if the name is not that of a test."""
    match = _TEST.fullmatch(stem)
    return next(filter(None, match.groups()), None) if match else None


def sibling_of(around: Surroundings) -> str | None:
    """Return the nearest sibling of the file with the hole, None if it has none."""
    place = PurePosixPath(around.place.path)
    names = _sibling_names(place.stem)
    found = [
        path
        for name in names
        for path in around.index.files_named(name)
        if PurePosixPath(path).suffix == place.suffix and around.may_show(path)
    ]
    return min(
        found, key=lambda path: (-_num_shared_parts(place, path), len(path), path), default=None
    )


def tested_definitions(around: Surroundings) -> Iterator[Reached]:
    """Yield the definitions of the file that this one tests, its classes with their members."""
    path = sibling_of(around) if tested_stem(_stem(around)) else None
    symbols = around.symbols_of(path) if path else None
    if path is None or symbols is None:
        return
    for definition in symbols.definitions:
        relation: Relation = "member" if definition.container else "neighbour"
        owner = definition.container.split(".")[-1]
        yield Reached(
            path=path, definition=definition, relation=relation, local=definition.name, owner=owner
        )


def passage_of_test(around: Surroundings, max_chars: int) -> Chunk | None:
    """Return the lines of this file's test that share most with the code around the hole."""
    path = None if tested_stem(_stem(around)) else sibling_of(around)
    text = around.text_of(path) if path else None
    if path is None or text is None:
        return None
    weights = around.neighbourhood.words
    lines = split_lines(text)[:MAX_LINES]
    first, last = best_lines(lines, weights, max_chars - around.cost(path, ""))
    shared = words_in("\n".join(lines[first:last])) & weights.keys()
    if sum(weights[word] for word in shared) < MIN_SHARED_WEIGHT:
        return None
    written = written_passage(lines[first:last], around.known, max_chars - around.cost(path, ""))
    if written is None:
        return None
    return Chunk(path=path, text=written, kind="sibling", reason="tests this file")


def _stem(around: Surroundings) -> str:
    return PurePosixPath(around.place.path).stem


def _sibling_names(stem: str) -> list[str]:
    tested = tested_stem(stem)
    if tested is not None:
        return [tested]
    patterns = _TEST_NAMES + (_TEST_NAMES_IN_CAPITALS if stem[:1].isupper() else ())
    return [pattern.format(stem) for pattern in patterns]


def _num_shared_parts(place: PurePosixPath, other: str) -> int:
    pairs = zip(place.parts, PurePosixPath(other).parts, strict=False)
    return next((n for n, (one, two) in enumerate(pairs) if one != two), len(place.parts))
