"""Passages of other files: what the user edited there, and what is similar to the place."""

from collections.abc import Iterator
from dataclasses import dataclass

from intarsia.workspace.context.candidate import Candidate, Surroundings
from intarsia.workspace.context.passage import best_lines, split_lines, written_passage
from intarsia.workspace.context.place import RecentEdit
from intarsia.workspace.words import words_in

NUM_LINES_AROUND = 2
MAX_EDITS = 2


def recent_edits(around: Surroundings, max_chars: int) -> Iterator[Candidate]:
    """Yield the regions edited last, newest first, within the budget together."""
    num_found = 0
    for edit in around.place.recent_edits:
        text = _written(around, edit, max_chars)
        if text is None:
            continue
        yield Candidate(path=edit.path, text=text, kind="recent_edit", reason="edited just now")
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
MAX_LINES_MORE = 6
"""Lines after a passage that may be shown with it: what follows similar code is what is asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scored:
    share: float
    path: str
    lines: list[str]


def similar_passage(around: Surroundings, max_chars: int) -> Candidate | None:
    """Return the most similar passage, None if none is similar enough."""
    weights = _query(around)
    if not weights:
        return None
    for one in _candidates(around, weights):
        if one.share < around.options.min_similarity:
            return None
        room = max_chars - around.cost(one.path, "")
        first, last = best_lines(one.lines, weights, room)
        text = written_passage(one.lines[first:last], around.known, room)
        if text is not None:
            reason = f"similar to the code around the hole: {one.share:.0%} of its words"
            return Candidate(path=one.path, text=text, kind="similar", reason=reason)
    return None


def _query(around: Surroundings) -> dict[str, float]:
    words = around.neighbourhood.words
    nearest = sorted(words, key=lambda word: (-words[word], word))[:MAX_QUERY_WORDS]
    return {word: words[word] for word in nearest}


def _candidates(around: Surroundings, weights: dict[str, float]) -> list[_Scored]:
    found = []
    total = sum(weights.values())
    similar = around.index.similar(tuple(weights), path=around.place.path, limit=NUM_CANDIDATES)
    for passage in similar:
        text = around.text_of(passage.path)
        if text is None:
            continue
        lines = split_lines(text)[passage.start_line : passage.end_line + MAX_LINES_MORE]
        shared = words_in("\n".join(lines)) & weights.keys()
        share = sum(weights[word] for word in shared) / total
        found.append(_Scored(share=share, path=passage.path, lines=lines))
    return sorted(found, key=lambda one: -one.share)
