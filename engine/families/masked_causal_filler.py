"""One fill by a causal backbone with canvases: text → ids → settle → text.

Used on the engine's worker thread. Knows neither sockets nor how a proposal is settled.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import torch

from intarsia.engine.diffusion.entropy import EntropyPolicy, settle_by_entropy
from intarsia.engine.diffusion.rewrite import RewriteLimits, RewritePolicy, rewrite
from intarsia.engine.diffusion.verify import (
    LEFT_TO_RIGHT,
    Ends,
    NamedToken,
    OnRound,
    Settled,
    VerifyPolicy,
    name_tokens,
    settle_verified,
)
from intarsia.engine.families.fim_text import FimText
from intarsia.engine.families.masked_causal import MaskedCausal
from intarsia.engine.families.request_ranges import require, require_draft, require_temperature
from intarsia.engine.families.text_end import find_text_end, may_end_here
from intarsia.engine.filler import Cancelled, ModelInfo
from intarsia.engine.ipc.messages import CanvasToken, Fill, Filled, FinishReason, Step, Timing

_SUFFIX_SHARE = 0.25  # of the context, where prefix and suffix together are too long

_REASONS: dict[Literal["end", "max_tokens", "max_steps", "deadline"], FinishReason] = {
    "end": "end_of_hole",
    "max_tokens": "max_tokens",
    "max_steps": "max_steps",
    "deadline": "deadline",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Hole:
    """A request as token ids, and what may end its work early."""

    request: Fill
    context: list[int]
    healed: bytes  # the last given token's bytes: the first token must continue them
    draft: list[int]  # to be rewritten; empty: filled from nothing
    suffix: list[int]
    is_cancelled: Callable[[], bool]
    deadline: float | None  # time.monotonic()


class MaskedCausalFiller:
    """Answers fills with one loaded causal backbone (the Filler protocol)."""

    def __init__(
        self, model: MaskedCausal, text: FimText, info: ModelInfo, *, max_context_tokens: int
    ) -> None:
        self.info = info
        self._model = model
        self._text = text
        self._max_context_tokens = max_context_tokens

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
        hole = self._read(request, received_at, is_cancelled)
        prefilled = self._model.prefill(hole.context, is_cancelled)
        prefilled_at = time.monotonic()
        show = self._show(hole, on_step)
        settled = self._rewrite(hole, show) if hole.draft else self._write(hole, show)
        tokens = self._tokens(hole, settled)
        ended_at = time.monotonic()
        return Filled(
            id=request.id,
            text="".join(token.text for token in tokens),
            tokens=tokens,
            steps=settled.num_passes,
            ms=Timing(
                queue=1000 * (started_at - received_at),
                prefill=1000 * (prefilled_at - started_at),
                denoise=1000 * (ended_at - prefilled_at),
                total=1000 * (ended_at - received_at),
            ),
            mean_entropy=fmean(settled.entropies[: settled.num_settled] or [0.0]),
            finish_reason=_REASONS[settled.finish_reason],
            model=self.info.name,
            num_prefilled=prefilled.num_computed,
            num_reused=prefilled.num_reused,
        )

    def cached_tokens(self) -> int:
        """Return how many context tokens are held now."""
        return self._model.cached_tokens()

    def _read(self, request: Fill, received_at: float, is_cancelled: Callable[[], bool]) -> _Hole:
        require("max_tokens", request.max_tokens, least=1, most=self._max_context_tokens)
        require("max_steps", 1 if request.max_steps is None else request.max_steps, least=1)
        require("alternative", request.alternative, least=0, most=self._model.vocab_size - 1)
        require("min_indent", request.min_indent, least=0)
        require("max_open", request.max_open or 0, least=0)
        require_temperature(request.temperature)
        draft = self._read_draft(request)
        # A draft stands behind whole given tokens; else the last of them is open.
        given, healed = (
            (self._text.encode(request.given), b"")
            if draft
            else self._text.split_given(request.given)
        )
        prefix, suffix = self._trim(
            self._text.encode(request.prefix), self._text.encode(request.suffix)
        )
        waiting = request.deadline_ms
        return _Hole(
            request=request,
            context=self._text.context(prefix, suffix) + given,
            healed=healed,
            draft=draft,
            suffix=suffix,
            is_cancelled=is_cancelled,
            deadline=None if waiting is None else received_at + waiting / 1000,
        )

    def _read_draft(self, request: Fill) -> list[int]:
        """Return the draft's ids; where all of them would be masked, nothing of it is left."""
        draft = self._text.encode(request.draft)
        require_draft(len(draft), request)
        return draft if request.noise < 1 else []

    def _trim(self, prefix: list[int], suffix: list[int]) -> tuple[list[int], list[int]]:
        """Keep what stands nearest the hole, where the text is denser in tokens than its sender
        could know."""
        if len(prefix) + len(suffix) <= self._max_context_tokens:
            return prefix, suffix
        least = int(self._max_context_tokens * _SUFFIX_SHARE)
        num_suffix = min(len(suffix), max(least, self._max_context_tokens - len(prefix)))
        num_prefix = self._max_context_tokens - num_suffix
        return prefix[-num_prefix:], suffix[:num_suffix]

    def _name_first(self, hole: _Hole) -> list[NamedToken]:
        """Name tokens until given text is continued: one, unless that takes several short ones."""
        named: list[NamedToken] = []
        left, rank = hole.healed, hole.request.alternative
        while not named or left:
            if hole.is_cancelled():
                raise Cancelled
            if named:
                self._model.extend(named[-1].id)
            logits = self._model.next_logits()
            named.append(_take(logits, self._text.continuing(left) if left else [], rank))
            left = left[len(self._text.bytes_of(named[-1].id)) :]
            rank = 0
        return named

    def _rewrite(self, hole: _Hole, on_round: OnRound | None) -> Settled:
        """Settle the draft anew. ``settle`` is not asked: no adapter takes part."""
        request = hole.request
        seed = request.seed + request.alternative
        temperature = (1.0 if seed else 0.0) if request.temperature is None else request.temperature
        return rewrite(
            self._model,
            hole.draft,
            hole.suffix,
            self._text.end_ids,
            RewritePolicy(noise=request.noise, temperature=temperature),
            generator=torch.Generator().manual_seed(seed),
            limits=RewriteLimits(
                max_passes=request.max_steps,
                is_cancelled=hole.is_cancelled,
                deadline=hole.deadline,
            ),
            on_round=on_round,
        )

    def _write(self, hole: _Hole, on_round: OnRound | None) -> Settled:
        """Fill the hole from nothing."""
        named = self._name_first(hole)
        settled = self._settle(hole, named, on_round)
        settled.num_passes += len(named) - 1
        return settled

    def _settle(
        self, hole: _Hole, named: Sequence[NamedToken], on_round: OnRound | None
    ) -> Settled:
        request = hole.request

        def find_end(ids: Sequence[int]) -> int | None:
            return self._find_end(ids, hole)

        if request.settle == "entropy" and self._model.has_adapter:
            return settle_by_entropy(
                self._model,
                self._text.mask_id,
                named,
                EntropyPolicy(temperature=request.temperature or 0.0),
                generator=torch.Generator(self._model.device).manual_seed(request.seed),
                find_end=find_end,
                max_tokens=request.max_tokens,
                max_passes=request.max_steps,
                is_cancelled=hole.is_cancelled,
                deadline=hole.deadline,
                on_round=on_round,
            )
        return settle_verified(
            self._model,
            hole.context,
            named,
            self._verify_policy(request),
            find_end=find_end,
            ends=Ends(ids=self._text.end_ids, may_follow=lambda ids: self._may_end(ids, hole)),
            max_tokens=request.max_tokens,
            max_passes=request.max_steps,
            is_cancelled=hole.is_cancelled,
            deadline=hole.deadline,
            on_round=on_round,
        )

    def _verify_policy(self, request: Fill) -> VerifyPolicy:
        is_proposing = self._model.has_adapter and request.settle != "left_to_right"
        return VerifyPolicy() if is_proposing else LEFT_TO_RIGHT

    def _find_end(self, ids: Sequence[int], hole: _Hole) -> int | None:
        """Return how many tokens the hole needs, None while it has not ended: up to an end token,
        or to the one that completes a stop text (cut earlier, it would not be known as one)."""
        num_before = next((i for i, t in enumerate(ids) if t in self._text.end_ids), len(ids))
        pieces = self._text.pieces(ids[:num_before], num_given=len(hole.healed))
        if _text_end(pieces, hole) is None:
            return num_before + 1 if num_before < len(ids) else None
        lengths = range(1, num_before + 1)
        return next(n for n in lengths if _text_end(pieces[:n], hole) is not None)

    def _may_end(self, ids: Sequence[int], hole: _Hole) -> bool:
        pieces = self._text.pieces(ids, num_given=len(hole.healed))
        return may_end_here("".join(pieces), max_open=hole.request.max_open)

    def _tokens(self, hole: _Hole, settled: Settled) -> tuple[CanvasToken, ...]:
        """Return the hole's tokens up to its end; the last is cut where a stop text begins."""
        num_before = next(
            (i for i, t in enumerate(settled.ids) if t in self._text.end_ids), len(settled.ids)
        )
        pieces = self._text.pieces(settled.ids[:num_before], num_given=len(hole.healed))
        end = _text_end(pieces, hole)
        tokens, length = [], 0
        for i, piece in enumerate(pieces):
            if end is not None and length >= end:
                break
            kept = piece if end is None else piece[: end - length]
            tokens.append(CanvasToken(kept, settled.confidences[i], i < settled.num_settled))
            length += len(piece)
        return tuple(tokens)

    def _show(self, hole: _Hole, on_step: Callable[[Step], None] | None) -> OnRound | None:
        """Return what turns a round into a message."""
        if on_step is None:
            return None

        def show(num_passes: int, text: Settled) -> None:
            tokens = self._tokens(hole, text)
            on_step(Step(id=hole.request.id, step=num_passes, tokens=tokens))

        return show


def _text_end(pieces: Sequence[str], hole: _Hole) -> int | None:
    request = hole.request
    return find_text_end(
        "".join(pieces),
        stop=request.stop,
        max_open=request.max_open,
        min_indent=request.min_indent,
    )


def _take(logits: torch.Tensor, allowed: list[int], rank: int) -> NamedToken:
    """Take the likeliest allowed token (none named: any), or the ``rank``-th next likely one."""
    if not allowed:
        chosen = logits.topk(rank + 1).indices[-1]
        return name_tokens(logits[None], [int(chosen)])[0]
    ids = torch.tensor(allowed, device=logits.device)
    rank = min(rank, len(allowed) - 1)
    chosen = ids[logits[ids].topk(rank + 1).indices[-1]]
    return name_tokens(logits[None], [int(chosen)])[0]
