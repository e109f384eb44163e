"""Asks the model by how much each of several edits makes a text likelier."""

from collections.abc import Sequence
from typing import Protocol

from intarsia.engine.ipc.messages import ScoreTexts, TextScores
from intarsia.infill.repair.proposals import Proposal
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.lines import line_start, with_plain_newlines

MAX_CHARS_BEFORE = 1_000
MAX_CHARS_AFTER = 300
MAX_SCORED = 10
"""Edits that are scored in full. Those with an unlikely first token are not."""

MAX_CHARS_BETWEEN = 3_000
"""Edits further apart than this are not compared."""


class AskScores(Protocol):
    """Sends texts to the engine and waits for their scores; where there are none, says why."""

    async def __call__(self, request: ScoreTexts, /) -> TextScores | NoSuggestion: ...


def within_reach(edits: Sequence[Proposal]) -> list[Proposal]:
    """Return the edits that are near enough to the first one to be compared with it."""
    return [it for it in edits if abs(it.start - edits[0].start) <= MAX_CHARS_BETWEEN // 2]


def score_request(text: str, edits: Sequence[Proposal], model: str | None = None) -> ScoreTexts:
    """Return the message that compares the text with each edit to the text as it is."""
    start, end = min(it.start for it in edits), max(it.end for it in edits)
    first = line_start(text, max(0, start - MAX_CHARS_BEFORE))
    last = min(len(text), end + MAX_CHARS_AFTER)
    return ScoreTexts(
        id=0,  # the client numbers its requests
        prefix=with_plain_newlines(text[first:start]),
        present=with_plain_newlines(text[start:end]),
        texts=tuple(
            with_plain_newlines(text[start : edit.start] + edit.new + text[edit.end : end])
            for edit in edits
        ),
        suffix=with_plain_newlines(text[end:last]),
        max_scored=MAX_SCORED,
        model=model,
    )
