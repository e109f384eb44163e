"""The one passage of another file that is most like the code around the hole, if any is.

BM25 finds the candidates; rare words weigh more there. A threshold then asks for a share of the
hole's words: a passage that has little in common distracts a small model, and fewer passages are
often better (JetBrains context competition 2025; CODEFILTER, arXiv 2508.05970). RepoCoder
(arXiv 2303.12570) shows what such a passage gains.
"""

from dataclasses import dataclass

from intarsia.workspace.context.candidate import Candidate, Surroundings
from intarsia.workspace.context.passage import best_lines, split_lines, written_passage
from intarsia.workspace.words import words_in

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
