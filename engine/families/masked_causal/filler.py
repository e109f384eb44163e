"""One fill by a causal backbone with canvases: text → ids → settle → text.

Used on the engine's worker thread. Knows neither sockets nor how a proposal is settled.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal

from intarsia.engine.decoding.tokens import OnRound, Settled
from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.model import SHORT_CHUNK, MaskedCausal
from intarsia.engine.families.masked_causal.read_request import Hole, HoleReader
from intarsia.engine.families.masked_causal.rerank import Candidates, Written
from intarsia.engine.families.masked_causal.warm_start import WarmStart
from intarsia.engine.families.masked_causal.writer import HoleWriter
from intarsia.engine.filler import ModelInfo
from intarsia.engine.ipc.messages import (
    Candidate,
    Fill,
    Filled,
    FinishReason,
    Prefetch,
    Step,
    Timing,
)

_REASONS: dict[Literal["end", "max_tokens", "max_steps", "deadline"], FinishReason] = {
    "end": "end_of_hole",
    "max_tokens": "max_tokens",
    "max_steps": "max_steps",
    "deadline": "deadline",
}


class MaskedCausalFiller:
    """Answers fills with one loaded causal backbone (the Filler protocol)."""

    def __init__(
        self, model: MaskedCausal, text: FimTokenizer, info: ModelInfo, *, max_context_tokens: int
    ) -> None:
        self.info = info
        self._model = model
        self._reader = HoleReader(
            text, vocab_size=model.vocab_size, max_context_tokens=max_context_tokens
        )
        self._writer = HoleWriter(model, text)
        self._candidates = Candidates(model, text, self._writer)

    def fill(
        self,
        request: Fill,
        *,
        received_at: float,
        is_cancelled: Callable[[], bool],
        on_step: Callable[[Step], None] | None,
    ) -> Filled:
        """Fill one hole."""
        started_at = time.monotonic()
        hole = self._reader.read(request, received_at, is_cancelled)
        start = self._writer.recall(hole) if hole.may_be_warm else None
        behind = () if start is None else start.draft.ids
        prefilled = self._model.prefill(hole.context, is_cancelled, behind=behind)
        prefilled_at = time.monotonic()
        settled = self._write(hole, start, self._show(hole, on_step))
        (best, *others), num_forwards = self._answers(hole, settled)
        ended_at = time.monotonic()
        return Filled(
            id=request.id,
            text=best.text,
            tokens=best.tokens,
            others=tuple(_as_candidate(it) for it in others),
            num_forwards=num_forwards,
            ms=Timing(
                queue=1000 * (started_at - received_at),
                prefill=1000 * (prefilled_at - started_at),
                denoise=1000 * (ended_at - prefilled_at),
                total=1000 * (ended_at - received_at),
            ),
            mean_entropy=best.mean_entropy,
            finish_reason=_REASONS[best.settled.finish_reason],
            model=self.info.name,
            num_prefilled=prefilled.num_computed,
            num_reused=prefilled.num_reused,
        )

    def suspended(self) -> AbstractContextManager[None]:
        """Let another fill be made between two passes of the one that runs."""
        return self._model.suspended()

    def cached_tokens(self) -> int:
        """Return how many context tokens are held now."""
        return self._model.cached_tokens()

    def prepare(self, is_cancelled: Callable[[], bool]) -> None:
        """Read the context of a nearer anchor, where the last request stood far behind its own: the
        user, who types on, will need it. Raises Cancelled between two chunks."""
        anchor = self._reader.far_anchor()
        if anchor is not None:
            self._model.prefill(anchor.context, is_cancelled, chunk_tokens=SHORT_CHUNK)
            self._reader.hold(anchor)

    def prefetch(self, place: Prefetch, is_cancelled: Callable[[], bool]) -> None:
        """Read the context of a hole that is not asked for yet. Raises Cancelled between two
        chunks."""
        request = Fill(id=0, prefix=place.prefix, suffix=place.suffix, given=place.given)
        hole = self._reader.read(request, time.monotonic(), is_cancelled)
        self._model.prefill(hole.context, is_cancelled, chunk_tokens=SHORT_CHUNK)

    def _write(self, hole: Hole, start: WarmStart | None, on_round: OnRound | None) -> Settled:
        if hole.draft:
            return self._writer.rewrite(hole, on_round)
        if hole.may_be_warm:
            return self._writer.write_warm(hole, start, on_round)
        return self._writer.write(hole, on_round, rank=hole.request.alternative)

    def _answers(self, hole: Hole, settled: Settled) -> tuple[list[Written], int]:
        """Return the answers, best first, and the passes that they took."""
        if hole.draft or hole.request.num_candidates == 1:
            tokens = self._writer.tokens(hole, settled)
            return [Written(settled=settled, tokens=tokens)], settled.num_forwards
        return self._candidates.ranked(hole, settled)

    def _show(self, hole: Hole, on_step: Callable[[Step], None] | None) -> OnRound | None:
        """Return what turns a round into a message."""
        if on_step is None:
            return None

        def show(num_forwards: int, text: Settled) -> None:
            tokens = self._writer.tokens(hole, text)
            on_step(Step(id=hole.request.id, step=num_forwards, tokens=tokens))

        return show


def _as_candidate(answer: Written) -> Candidate:
    return Candidate(
        text=answer.text,
        tokens=answer.tokens,
        mean_entropy=answer.mean_entropy,
        finish_reason=_REASONS[answer.settled.finish_reason],
    )
