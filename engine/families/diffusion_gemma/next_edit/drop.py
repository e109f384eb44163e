"""Finds the drop of each line, and the words of it that an edit has made unlikely.

The lines are scored in blocks of one canvas, the one nearest to the edit first. Both times, before
the edit and after it, the block is the same and the same words are hidden by the same noise: only
the code around it differs.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from intarsia.engine.families.diffusion_gemma.canvas.tokenizer import GemmaTokenizer, TokenizedText
from intarsia.engine.families.diffusion_gemma.next_edit.score import TextScorer
from intarsia.engine.families.diffusion_gemma.next_edit.surroundings import Span, Version
from intarsia.engine.families.next_edit.edited_lines import WindowLine
from intarsia.engine.families.next_edit.line_drop import LineDrop, largest_drops
from intarsia.engine.fill_control import FillControl

_FALLEN_SHARE = 0.5  # of the line's drop: what lost as much no longer fits either

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True, slots=True)
class FallenWords:
    """Characters of a line, from the first word that fell to the last one."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Drops:
    """The lines with a drop above 0, the largest first, and what fell in each, by its number."""

    lines: Sequence[LineDrop]
    fallen: dict[int, FallenWords]


@dataclass(frozen=True, kw_only=True, slots=True)
class _TokenLoss:
    line: WindowLine
    start: int  # characters of the line
    end: int
    loss: float


class DropFinder:
    """Compares two versions of a window, block by block."""

    def __init__(self, scorer: TextScorer, text: GemmaTokenizer) -> None:
        self._scorer = scorer
        self._text = text

    def find(
        self,
        lines: Sequence[WindowLine],
        before: Version,
        after: Version,
        *,
        max_tokens: int,
        control: FillControl,
    ) -> Drops:
        """Return the drops of the lines that may change. A block has at most ``max_tokens``.

        Lines that fit in no block are left out. Raises Cancelled between two passes.
        """
        blocks = list(self._blocks(lines, after, max_tokens))
        losses: list[_TokenLoss] = []
        for block in blocks if after.edit_start is None else reversed(blocks):
            first, last = block[0], block[-1]
            tokens = self._text.tokenize(after.text[first.start : last.end].decode())
            span_before = Span(start=first.start_before, end=last.end_before)
            span = Span(start=first.start, end=last.end)
            likely_before = self._scorer.score(before, span_before, tokens, control)
            likely = self._scorer.score(after, span, tokens, control)
            losses += _losses(block, tokens, likely_before - likely, after)
        return _drops(losses, after)

    def _blocks(
        self, lines: Sequence[WindowLine], after: Version, max_tokens: int
    ) -> Iterator[Sequence[WindowLine]]:
        """Yield lines next to each other that fit in one canvas, if one may change."""
        block: list[WindowLine] = []
        num_tokens = 0
        for line in lines:
            length = len(self._text.encode(after.text[line.start : line.end].decode()))
            is_next = bool(block) and block[-1].is_followed_by(line)
            if block and not (is_next and num_tokens + length <= max_tokens):
                yield block
                block, num_tokens = [], 0
            if length <= max_tokens:
                block.append(line)
                num_tokens += length
        if block:
            yield block


def _losses(
    block: Sequence[WindowLine], tokens: TokenizedText, lost: Tensor, after: Version
) -> Iterator[_TokenLoss]:
    """Yield the loss of each token of a line that may change."""
    ends = [*tokens.starts[1:], len(tokens.text)]
    start = 0
    for line in block:
        text = after.text[line.start : line.end].decode()
        for i in range(len(tokens)) if line.may_change and text.strip() else ():
            if start <= tokens.starts[i] < start + len(text):
                yield _TokenLoss(
                    line=line,
                    start=tokens.starts[i] - start,
                    end=min(ends[i] - start, len(text)),
                    loss=float(lost[i]),
                )
        start += len(text)


def _drops(losses: Sequence[_TokenLoss], after: Version) -> Drops:
    drops = largest_drops((token.line, token.loss) for token in losses)
    fallen = {}
    for found in drops:
        line = found.line
        text = after.text[line.start : line.end].decode()
        least = _FALLEN_SHARE * found.drop
        own = [token for token in losses if token.line is line and token.loss >= least]
        fallen[line.number] = _whole_words(text, own[0].start, own[-1].end)
    return Drops(lines=drops, fallen=fallen)


def _whole_words(text: str, start: int, end: int) -> FallenWords:
    """Return the characters, without spaces at their ends, and with the rest of cut words."""
    while start < end - 1 and text[start].isspace():
        start += 1
    while end > start + 1 and text[end - 1].isspace():
        end -= 1
    for word in _WORD.finditer(text):
        if word.start() < end and start < word.end():
            start, end = min(start, word.start()), max(end, word.end())
    return FallenWords(start=start, end=end)
