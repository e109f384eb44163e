"""Scores a text in the place of some lines, before an edit and after it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from intarsia.engine.families.diffusion_gemma.canvas.tokenizer import GemmaTokenizer, TokenizedText
from intarsia.engine.families.diffusion_gemma.next_edit.hidden_text import hide
from intarsia.engine.families.diffusion_gemma.next_edit.surprise import log_probabilities
from intarsia.engine.families.diffusion_gemma.next_edit.surroundings import (
    Span,
    SurroundingsReader,
    Version,
)
from intarsia.engine.families.next_edit.edited_lines import WindowLine
from intarsia.engine.fill_control import FillControl


class TextScorer:
    """Scores texts with one model."""

    def __init__(
        self,
        surroundings: SurroundingsReader,
        text: GemmaTokenizer,
        *,
        vocab_size: int,
        device: torch.device,
    ) -> None:
        self._surroundings = surroundings
        self._text = text
        self._vocab_size = vocab_size
        self._device = device

    def score(
        self, version: Version, span: Span, tokens: TokenizedText, control: FillControl
    ) -> Tensor:
        """Return the log-probability (tokens,) of each token in the place of some lines.

        Raises Cancelled between two passes.
        """
        around = self._surroundings.for_score(version, span, control)
        return log_probabilities(
            around.predict,
            hide(tokens, vocab_size=self._vocab_size),
            around.following,
            device=self._device,
            control=control,
        )

    def gain(
        self,
        version: Version,
        span: Span,
        new: str,
        following: Sequence[WindowLine],
        control: FillControl,
    ) -> float | None:
        """Return by how much new lines make the text likelier than those at a span, in nats.

        The lines after it count too. None if they do not fit in a canvas. Raises Cancelled.
        """
        old = version.text[span.start : span.end].decode()
        num_bytes = sum(line.end - line.start for line in following)
        whole = Span(start=span.start, end=span.end + num_bytes)
        after = version.text[span.end : whole.end].decode()
        texts = [self._text.tokenize(lines + after) for lines in (new, old)]
        if max(map(len, texts)) > self._surroundings.max_scored(version):
            return None
        likely_new, likely_old = (
            float(self.score(version, whole, tokens, control).sum()) for tokens in texts
        )
        return likely_new - likely_old
