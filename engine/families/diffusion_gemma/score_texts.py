"""Scores texts at one place: by how much each is likelier there than the text that is present.

The encoder reads the present text once, and each other one from where the two part.
"""

import time
from collections.abc import Sequence

import torch

from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone, Reading
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.families.text_change import MAX_TEXTS, Change, change_of
from intarsia.engine.families.validate_request import require_range
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import ScoreTexts, TextScores


class TextScorer:
    """Scores beside the context that is held for fills, which may run between its passes."""

    def __init__(
        self, backbone: DiffusionGemmaBackbone, text: GemmaTokenizer, *, max_tokens: int
    ) -> None:
        self._backbone = backbone
        self._text = text
        self._max_tokens = max_tokens  # of prefix, text and suffix

    def score(self, request: ScoreTexts, control: FillControl) -> TextScores:
        """Return the gains. Raises Cancelled between two passes, ValueError for a bad request."""
        started_at = time.monotonic()
        require_range("the number of texts", len(request.texts), least=1, most=MAX_TEXTS)
        require_range("max_scored", request.max_scored, least=1, most=MAX_TEXTS)
        present, *others = (self._ids(request, it) for it in (request.present, *request.texts))
        longest = max(map(len, (present, *others)))
        require_range("the number of tokens", longest, least=1, most=self._max_tokens)
        changes = [change_of(present, ids) for ids in others]
        first = min(change.start for change in changes)
        read = self._backbone.read(present, first - 1, control)
        gains: list[float | None] = [None] * len(others)
        for number in self._likeliest_first(read, changes)[: request.max_scored]:
            gains[number] = self._gain(read, changes[number], control)
        ms = 1000 * (time.monotonic() - started_at)
        return TextScores(id=request.id, gains=tuple(gains), ms=ms)

    def _ids(self, request: ScoreTexts, text: str) -> list[int]:
        return self._text.context(request.prefix + text + request.suffix, "")

    def _likeliest_first(self, read: Reading, changes: Sequence[Change]) -> list[int]:
        """Return the numbers of the texts, in the order of how much their first new token gains.

        This takes no forward pass: what precedes that token was read.
        """
        starts = sorted({change.start for change in changes})
        rows = torch.cat([read.rows_before(start, start + 1) for start in starts])
        logits = dict(zip(starts, self._backbone.logits(rows), strict=True))

        def gain(number: int) -> float:
            start, new = changes[number].start, changes[number].new
            if not new or start == len(read.ids):
                return 0.0
            return float(logits[start][new[0]] - logits[start][read.ids[start]])

        return sorted(range(len(changes)), key=lambda number: -gain(number))

    def _gain(self, read: Reading, change: Change, control: FillControl) -> float:
        """Return by how many nats a change makes the present text likelier."""
        start, old = change.start, read.ids[change.start : change.end]
        new = self._backbone.read([*read.ids[:start], *change.new], start - 1, control, read)
        likely = self._backbone.log_probabilities(read.rows_before(start, change.end), old)
        rows = new.rows_before(start, start + len(change.new))
        return float(self._backbone.log_probabilities(rows, change.new).sum() - likely.sum())
