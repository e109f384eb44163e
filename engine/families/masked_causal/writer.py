"""Writes one hole on a causal backbone: a Hole comes in, settled tokens go out.

Chooses between the ways to settle, and knows where a text ends.
"""

from collections.abc import Sequence

import torch

from intarsia.engine.decoding.entropy import EntropyPolicy, decode_by_entropy
from intarsia.engine.decoding.proposal import NO_MEMORY, NOTHING, Memory
from intarsia.engine.decoding.rewrite import RewriteLimits, RewritePolicy, rewrite
from intarsia.engine.decoding.speculative import AUTOREGRESSIVE, VerifyPolicy, decode_speculatively
from intarsia.engine.decoding.tokens import Ends, OnRound, ScoredToken, Settled, score_tokens
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.model import MaskedCausal
from intarsia.engine.families.masked_causal.read_request import Hole
from intarsia.engine.families.masked_causal.warm_start import Recollections, WarmStart
from intarsia.engine.families.stop_rules import find_text_end, may_end_here
from intarsia.engine.ipc.messages import CanvasToken, Fill


class HoleWriter:
    """Writes into the context that the model has open."""

    def __init__(self, model: MaskedCausal, text: FimTokenizer) -> None:
        self._model = model
        self._text = text
        self._recollections = Recollections(text)

    def recall(self, hole: Hole) -> WarmStart | None:
        """Return what probably fills the hole, as it was before the last keys."""
        return self._recollections.recall(hole)

    def write_warm(self, hole: Hole, start: WarmStart | None, on_round: OnRound | None) -> Settled:
        """Fill the hole from what was written before, and remember what is written now, even if
        that is cancelled: the text is the same as from nothing."""
        written: Settled | None = None

        def note(num_forwards: int, text: Settled) -> None:
            nonlocal written
            written = text
            if on_round is not None:
                on_round(num_forwards, text)

        try:
            written = self._write_warm(hole, start, note)
            return written
        finally:
            if written is not None:
                self._recollections.hold(hole, written, start)

    def _write_warm(self, hole: Hole, start: WarmStart | None, on_round: OnRound) -> Settled:
        named, num_forwards = self._name_first(hole, 0)
        draft = NOTHING
        if start is not None:
            ids = [token.id for token in named]
            draft = self._recollections.behind(start, ids)
            if [token.id for token in start.proven[: len(ids)]] == ids:
                proven = start.proven[len(ids) :]
                num_held = self._model.hold([token.id for token in (named[-1], *proven)][:-1])
                named += proven[:num_held]
                draft = draft.part(num_held)
            else:
                self._model.hold([])
        memory = Memory(draft=draft, others=self._recollections.rows())
        settled = self.write_on(hole, named, on_round, memory=memory)
        settled.num_forwards += num_forwards
        return settled

    def write(self, hole: Hole, on_round: OnRound | None = None, *, rank: int = 0) -> Settled:
        """Fill the hole from nothing, beginning with the ``rank``-th next likely token."""
        named, num_forwards = self._name_first(hole, rank)
        settled = self.write_on(hole, named, on_round)
        settled.num_forwards += num_forwards
        return settled

    def write_on(
        self,
        hole: Hole,
        named: Sequence[ScoredToken],
        on_round: OnRound | None = None,
        *,
        memory: Memory = NO_MEMORY,
    ) -> Settled:
        """Go on behind the first tokens of a hole; the model holds all of them but the last."""
        request = hole.request

        def find_end(ids: Sequence[int]) -> int | None:
            return self._find_end(ids, hole)

        if request.decoding == "entropy" and self._model.has_adapter:
            return decode_by_entropy(
                self._model,
                self._text.mask_id,
                named,
                EntropyPolicy(temperature=request.temperature or 0.0),
                generator=torch.Generator(self._model.device).manual_seed(request.seed),
                find_end=find_end,
                max_tokens=request.max_tokens,
                max_forwards=request.max_steps,
                is_cancelled=hole.is_cancelled,
                deadline=hole.deadline,
                on_round=on_round,
            )
        return decode_speculatively(
            self._model,
            hole.context,
            named,
            self._verify_policy(request),
            memory=memory,
            find_end=find_end,
            ends=Ends(ids=self._text.end_ids, may_follow=lambda ids: self._may_end(ids, hole)),
            max_tokens=request.max_tokens,
            max_forwards=request.max_steps,
            is_cancelled=hole.is_cancelled,
            deadline=hole.deadline,
            on_round=on_round,
        )

    def rewrite(self, hole: Hole, on_round: OnRound | None) -> Settled:
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
                max_forwards=request.max_steps,
                is_cancelled=hole.is_cancelled,
                deadline=hole.deadline,
            ),
            on_round=on_round,
        )

    def tokens(self, hole: Hole, settled: Settled) -> tuple[CanvasToken, ...]:
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
            tokens.append(CanvasToken(kept, settled.confidences[i], i < settled.num_committed))
            length += len(piece)
        return tuple(tokens)

    def _name_first(self, hole: Hole, rank: int) -> tuple[list[ScoredToken], int]:
        """Name tokens until given text is continued: one, unless that takes several short ones.
        Return the passes that it took, too."""
        named: list[ScoredToken] = []
        left, num_forwards = hole.healed, 0
        while not named or left:
            if hole.is_cancelled():
                raise Cancelled
            if named:
                num_forwards += self._model.extend(named[-1].id)
            logits = self._model.next_logits()
            named.append(_take(logits, self._text.continuing(left) if left else [], rank))
            left = left[len(self._text.bytes_of(named[-1].id)) :]
            rank = 0
        return named, num_forwards

    def _verify_policy(self, request: Fill) -> VerifyPolicy:
        is_proposing = self._model.has_adapter and request.decoding != "autoregressive"
        return VerifyPolicy() if is_proposing else AUTOREGRESSIVE

    def _find_end(self, ids: Sequence[int], hole: Hole) -> int | None:
        """Return how many tokens the hole needs, None while it has not ended: up to an end token,
        or to the one that completes a stop text (cut earlier, it would not be known as one)."""
        num_before = next((i for i, t in enumerate(ids) if t in self._text.end_ids), len(ids))
        pieces = self._text.pieces(ids[:num_before], num_given=len(hole.healed))
        if _text_end(pieces, hole) is None:
            return num_before + 1 if num_before < len(ids) else None
        lengths = range(1, num_before + 1)
        return next(n for n in lengths if _text_end(pieces[:n], hole) is not None)

    def _may_end(self, ids: Sequence[int], hole: Hole) -> bool:
        pieces = self._text.pieces(ids, num_given=len(hole.healed))
        return may_end_here("".join(pieces), max_open=hole.request.max_open)


def _text_end(pieces: Sequence[str], hole: Hole) -> int | None:
    request = hole.request
    return find_text_end(
        "".join(pieces),
        stop=request.stop,
        max_open=request.max_open,
        min_indent=request.min_indent,
    )


def _take(logits: torch.Tensor, allowed: list[int], rank: int) -> ScoredToken:
    """Take the likeliest allowed token (none named: any), or the ``rank``-th next likely one."""
    if not allowed:
        chosen = logits.topk(rank + 1).indices[-1]
        return score_tokens(logits[None], [int(chosen)])[0]
    ids = torch.tensor(allowed, device=logits.device)
    rank = min(rank, len(allowed) - 1)
    chosen = ids[logits[ids].topk(rank + 1).indices[-1]]
    return score_tokens(logits[None], [int(chosen)])[0]
