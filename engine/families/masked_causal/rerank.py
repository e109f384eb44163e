"""Several answers to one hole, best first: the greedy answer comes in, it and others go out.

An answer is as good as the text is likely that it makes: its own tokens and its end, as the model
writes them between prefix and suffix, and behind it the first tokens of the suffix, as they follow
where no suffix is shown (where it is, any answer has it follow). Knows no sockets.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import fmean

from intarsia.engine.decoding.tokens import ScoredToken, Settled, score_tokens
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.model import MaskedCausal
from intarsia.engine.families.masked_causal.read_request import Hole
from intarsia.engine.families.masked_causal.writer import HoleWriter
from intarsia.engine.families.protocol import common_prefix_length
from intarsia.engine.ipc.messages import CanvasToken

_SURE = math.log(0.6)
"""An answer that the model gives with this probability has no others beside it."""

_LINES_MORE = 2
_NUM_JUDGED = 24  # suffix tokens: more or fewer (8 to 48) chose about as well
_CHARS_JUDGED = 240  # more text than so many tokens have
_NEWLINE = "\n"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Written:
    """One answer."""

    settled: Settled
    tokens: tuple[CanvasToken, ...]

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)

    @property
    def mean_entropy(self) -> float:
        """Nats a settled token."""
        return fmean(self.settled.entropies[: self.settled.num_committed] or [0.0])


class Candidates:
    """Writes other answers, and weighs them all."""

    def __init__(self, model: MaskedCausal, text: FimTokenizer, writer: HoleWriter) -> None:
        self._model = model
        self._text = text
        self._writer = writer

    def ranked(self, hole: Hole, first: Settled) -> tuple[list[Written], int]:
        """Return up to ``num_candidates`` answers, best first, and the passes that it all took.

        The greedy one is alone where it is sure, cut short, or where the deadline comes before all
        are weighed. Raises Cancelled between two passes.
        """
        answers, num_forwards = [self._written(hole, first)], first.num_forwards
        if self._is_sure(hole, first) or first.finish_reason in ("deadline", "max_steps"):
            return answers, num_forwards
        for settled in self._others(hole, first):
            num_forwards += settled.num_forwards
            if hole.is_late:
                break
            answer = self._written(hole, settled)
            if answer.text.rstrip() not in [it.text.rstrip() for it in answers]:
                answers.append(answer)
            if len(answers) >= hole.request.num_candidates:
                break
        if len(answers) == 1 and not hole.is_late:
            return answers, num_forwards
        self._go_back(hole)  # the next request finds the context as it was
        self._model.prefill(self._text.without_suffix(hole.context), hole.is_cancelled)
        fits: list[float] = []
        while len(fits) < len(answers) and not hole.is_late:
            answer = answers[len(fits)]
            fits.append(_log_chance(answer.settled) + self._suffix_chance(hole, answer))
        num_forwards += len(fits)
        if hole.is_late:
            cut_short = replace(first, finish_reason="deadline")
            return [Written(settled=cut_short, tokens=answers[0].tokens)], num_forwards
        order = sorted(range(len(answers)), key=lambda i: -fits[i])  # stable: the greedy one first
        return [answers[i] for i in order], num_forwards

    def _is_sure(self, hole: Hole, answer: Settled) -> bool:
        """Whether the model is, of all that it was free to choose."""
        num_given = num_bytes = 0
        while num_bytes < len(hole.healed) and num_given < len(answer.ids):
            num_bytes += len(self._text.bytes_of(answer.ids[num_given]))
            num_given += 1
        return _log_chance(answer, num_given) >= _SURE

    def _written(self, hole: Hole, settled: Settled) -> Written:
        return Written(settled=settled, tokens=self._writer.tokens(hole, settled))

    def _others(self, hole: Hole, first: Settled) -> Iterator[Settled]:
        """Write the answers that go on over a line more, and another, then those that begin
        otherwise. (One that goes another way where the model was least sure cost right answers.)
        """
        longer = first
        for _ in range(_LINES_MORE):
            named = self._a_line_more(hole, longer)
            if named is None or hole.is_late:
                break
            longer = self._writer.write_on(hole, named)
            yield longer
        for rank in range(1, hole.request.num_candidates):
            if hole.is_late:
                return
            self._go_back(hole)
            yield self._writer.write(hole, rank=rank)

    def _a_line_more(self, hole: Hole, first: Settled) -> list[ScoredToken] | None:
        """Name the tokens of an answer that the model itself ended, and a line end behind them."""
        if not first.ids or first.ids[-1] not in self._text.end_ids:
            return None
        if _NEWLINE in hole.request.stop:
            return None
        before = _named(first, len(first.ids) - 1)
        self._go_back(hole)
        self._model.prefill([*hole.context, *(it.id for it in before)], hole.is_cancelled)
        newline = self._text.encode(_NEWLINE)[:1]
        return [*before, *score_tokens(self._model.next_logits()[None], newline)]

    def _go_back(self, hole: Hole) -> None:
        """Hold nothing but the context again."""
        if hole.is_cancelled():
            raise Cancelled
        self._model.reopen(len(hole.context))

    def _suffix_chance(self, hole: Hole, answer: Written) -> float:
        """Return the log probability of the first suffix tokens behind prefix and answer; the open
        context shows no suffix.

        A token that both have a part in counts as the suffix's.
        """
        before = hole.healed.decode("utf-8", "replace") + answer.text
        own = self._text.encode(before)
        ids = self._text.encode(before + hole.request.suffix[:_CHARS_JUDGED])
        ids = ids[: len(own) + _NUM_JUDGED]
        start = common_prefix_length(own, ids)
        return self._model.log_chance(ids, start, hole.is_cancelled) if start < len(ids) else 0.0


def _named(text: Settled, length: int) -> list[ScoredToken]:
    """Return the first tokens as they were named."""
    rows = zip(text.ids, text.confidences, text.entropies, strict=False)
    return [ScoredToken(id=i, confidence=c, entropy=e) for i, c, e in rows][:length]


def _log_chance(text: Settled, start: int = 0) -> float:
    """Return the log probability of the tokens from ``start`` on, the end among them."""
    return sum(math.log(max(confidence, 1e-30)) for confidence in text.confidences[start:])
