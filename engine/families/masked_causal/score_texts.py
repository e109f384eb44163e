"""Scores texts at one place: by how much each is likelier there than the text that is present.

The plain backbone reads prefix, text and suffix in file order. The present text is read once; each
other one is read from where the two part, up to some tokens after they meet again.
"""

import time
from collections.abc import Collection, Iterator, Sequence

from intarsia.engine.arrays import floats
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.next_edit.edited_window import window_below
from intarsia.engine.families.masked_causal.next_edit.scoring import log_p_after, log_probabilities
from intarsia.engine.families.masked_causal.next_edit.window_reader import (
    ReadWindow,
    WindowReader,
)
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.families.text_change import MAX_TEXTS, Change, change_of
from intarsia.engine.families.validate_request import require_range
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import ScoreTexts, TextScores


class TextScorer:
    """Scores with the reader's backbone; what it reads is held apart from the fills' contexts."""

    def __init__(self, text: FimTokenizer, reader: WindowReader, *, max_tokens: int) -> None:
        self._text = text
        self._reader = reader
        self._max_tokens = max_tokens  # of prefix, text and suffix

    def score(self, request: ScoreTexts, control: FillControl) -> TextScores:
        """Return the gains. Raises Cancelled between two passes, ValueError for a bad request."""
        started_at = time.monotonic()
        require_range("the number of texts", len(request.texts), least=1, most=MAX_TEXTS)
        require_range("max_scored", request.max_scored, least=1, most=MAX_TEXTS)
        present = self._ids(request, request.present)
        others = [self._ids(request, text) for text in request.texts]
        longest = max(map(len, (present, *others)))
        require_range("the number of tokens", longest, least=1, most=self._max_tokens)
        parts = [common_prefix_length(present, ids) for ids in others]
        read = self._reader.read(present, min(parts) - 1, control)
        order = self._likeliest_first(read, others, parts)[: request.max_scored]
        changes = {number: change_of(read.ids, others[number]) for number in order}
        gains: list[float | None] = [None] * len(others)
        for number, gain in zip(order, self._gains(read, changes.values(), control), strict=True):
            gains[number] = gain
        return TextScores(
            id=request.id, gains=tuple(gains), ms=1000 * (time.monotonic() - started_at)
        )

    def _ids(self, request: ScoreTexts, text: str) -> list[int]:
        return window_below(self._text, request.prefix + text + request.suffix)

    def _likeliest_first(
        self, read: ReadWindow, others: Sequence[Sequence[int]], parts: Sequence[int]
    ) -> list[int]:
        """Return the numbers of the texts, in the order of how much their first new token gains.

        This takes no forward pass: what precedes that token was read.
        """
        shared = sorted(set(parts))
        logits = floats(read.backbone.logits(read.rows([part - 1 for part in shared])))
        rows = dict(zip(shared, logits, strict=True))

        def gain(number: int) -> float:
            part, ids = parts[number], others[number]
            if part >= min(len(ids), len(read.ids)):
                return 0.0
            return float(rows[part][ids[part]] - rows[part][read.ids[part]])

        return sorted(range(len(others)), key=lambda number: -gain(number))

    def _gains(
        self, read: ReadWindow, changes: Collection[Change], control: FillControl
    ) -> Iterator[float]:
        """Yield by how many nats each change makes the ids that were read likelier."""
        first = min(change.start for change in changes)
        last = max(change.end for change in changes)
        rows = read.rows(range(first - 1, last - 1))
        present = log_probabilities(read.backbone, rows, read.ids[first:last], control)
        for change in changes:
            likely = present[change.start - first : change.end - first].sum()
            new = log_p_after(read, change.start, change.new, control)
            yield float(new - likely)
