"""Several answers to one hole, best first: the greedy answer comes in, it and others go out.

An answer is as good as the text is likely that it makes: its own tokens and its end, as the model
writes them between prefix and suffix, and behind it the first tokens of the suffix, as they follow
where no suffix is shown (where it is, any answer has it follow). Knows no sockets.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from intarsia.engine.diffusion.verify import NamedToken, Settled, name_tokens
from intarsia.engine.families.fim_text import FimText
from intarsia.engine.families.masked_causal import MaskedCausal
from intarsia.engine.families.masked_causal_hole import Hole
from intarsia.engine.families.masked_causal_writer import HoleWriter
from intarsia.engine.filler import Cancelled
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


class Candidates:
    """Writes other answers, and weighs them all."""

    def __init__(self, model: MaskedCausal, text: FimText, writer: HoleWriter) -> None:
        self._model = model
        self._text = text
        self._writer = writer

    def ranked(self, hole: Hole, first: Settled) -> tuple[list[Written], int]:
        """Return up to ``num_candidates`` answers, best first, and the passes that it all took.

        Where the deadline comes, what was written whole competes. Raises Cancelled between two
        passes.
        """
        answers, num_passes = [self._written(hole, first)], first.num_passes
        if _log_chance(first) >= _SURE or first.finish_reason == "deadline":
            return answers, num_passes
        for settled in self._others(hole, first):
            num_passes += settled.num_passes
            if settled.finish_reason == "deadline":
                break
            answer = self._written(hole, settled)
            if answer.text.rstrip() not in [it.text.rstrip() for it in answers]:
                answers.append(answer)
            if len(answers) >= hole.request.num_candidates:
                break
        if len(answers) == 1:
            return answers, num_passes
        fits = [_log_chance(it.settled) + self._suffix_chance(hole, it) for it in answers]
        order = sorted(range(len(answers)), key=lambda i: -fits[i])  # stable: the greedy one first
        return [answers[i] for i in order], num_passes + len(answers)

    def _written(self, hole: Hole, settled: Settled) -> Written:
        return Written(settled=settled, tokens=self._writer.tokens(hole, settled))

    def _others(self, hole: Hole, first: Settled) -> Iterator[Settled]:
        """Write the answers that go on over a line more, and another, then those that begin
        otherwise. (One that goes another way where the model was least sure won 8 spans of 164 and
        lost 12.)"""
        longer = first
        for _ in range(_LINES_MORE):
            named = self._a_line_more(hole, longer)
            if named is None:
                break
            longer = self._writer.write_on(hole, named)
            yield longer
        for rank in range(1, hole.request.num_candidates):
            self._open(hole, hole.context)
            yield self._writer.write(hole, rank=rank)

    def _a_line_more(self, hole: Hole, first: Settled) -> list[NamedToken] | None:
        """Name the tokens of an answer that the model itself ended, and a line end behind them."""
        if not first.ids or first.ids[-1] not in self._text.end_ids:
            return None
        if _NEWLINE in hole.request.stop:
            return None
        before = _named(first, len(first.ids) - 1)
        self._open(hole, [*hole.context, *(token.id for token in before)])
        newline = self._text.encode(_NEWLINE)[:1]
        return [*before, *name_tokens(self._model.next_logits()[None], newline)]

    def _open(self, hole: Hole, context: Sequence[int]) -> None:
        if hole.is_cancelled():
            raise Cancelled
        self._model.prefill(context, hole.is_cancelled)

    @torch.inference_mode()
    def _suffix_chance(self, hole: Hole, answer: Written) -> float:
        """Return the log probability of the first suffix tokens behind prefix and answer."""
        before = hole.healed.decode("utf-8", "replace") + answer.text
        ids = self._text.encode(before + hole.request.suffix[:_CHARS_JUDGED])
        start = min(len(self._text.encode(before)), len(ids))
        ids = ids[: start + _NUM_JUDGED]
        if start >= len(ids):
            return 0.0
        self._open(hole, hole.plain)
        rows = torch.cat([self._model.next_logits()[None], *self._model.branch([ids])])
        logs = torch.log_softmax(rows[start:-1].float(), dim=-1)
        named = torch.tensor(ids[start:], device=logs.device)
        return float(logs.gather(-1, named[:, None]).sum())


def _named(text: Settled, length: int) -> list[NamedToken]:
    """Return the first tokens as they were named."""
    rows = zip(text.ids, text.confidences, text.entropies, strict=False)
    return [NamedToken(id=i, confidence=c, entropy=e) for i, c, e in rows][:length]


def _log_chance(text: Settled) -> float:
    """Return the log probability of the tokens, the end among them."""
    return sum(math.log(max(confidence, 1e-30)) for confidence in text.confidences)
