"""Decode the hole of one task on a causal backbone, by the way that its request asks for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from intarsia.engine.arrays import Array, floats, largest, logsumexp
from intarsia.engine.decoding.rewrite import RewritePolicy, RewriteRequest, rewrite
from intarsia.engine.decoding.speculation_policy import (
    AUTOREGRESSIVE,
    NO_PROPOSAL,
    DraftSources,
    SpeculationPolicy,
)
from intarsia.engine.decoding.speculative import decode_speculatively
from intarsia.engine.decoding.tokens import (
    EndRule,
    HoleRequest,
    HoleTokens,
    OnRound,
    ScoredToken,
    score_tokens,
)
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.hole_text import Beginning, HoleText
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.passes import RewritePasses, SpeculativePasses
from intarsia.engine.families.masked_causal.read_request import FillTask
from intarsia.engine.families.masked_causal.warm_start import PastAnswers, WarmStart
from intarsia.engine.ipc.messages import CanvasToken


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Answer:
    """The text and tokens decoded into one hole."""

    hole: HoleTokens
    tokens: tuple[CanvasToken, ...]
    end_confidence: float | None  # None: the hole has not ended

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)

    @property
    def mean_entropy(self) -> float:
        """Nats per committed token."""
        committed = self.hole.entropies[: self.hole.num_committed]
        return sum(committed) / max(1, len(committed))


class HoleWriter:
    """Decodes holes after the open context."""

    def __init__(self, context: OpenContext, text: FimTokenizer) -> None:
        self._context = context
        self._text = text
        self._past_answers = PastAnswers(text)

    def find_start(self, task: FillTask) -> WarmStart | None:
        """Return what probably fills the hole, from earlier answers."""
        return self._past_answers.find(task)

    def write_warm(
        self, task: FillTask, start: WarmStart | None, on_round: OnRound | None
    ) -> HoleTokens:
        """Decode from a warm start, to the same text; remember the answer, cancelled or not."""
        written: HoleTokens | None = None

        def note(hole: HoleTokens) -> None:
            nonlocal written
            written = hole
            if on_round is not None:
                on_round(hole)

        try:
            written = self._write_warm(task, start, note)
            return written
        finally:
            if written is not None:
                self._past_answers.remember(task, written, start)

    def _write_warm(self, task: FillTask, start: WarmStart | None, on_round: OnRound) -> HoleTokens:
        first, num_forwards = self._predict_first(task, 0)
        draft = NO_PROPOSAL
        if start is not None:
            ids = [token.id for token in first]
            draft = self._past_answers.rest_of(start, ids)
            if [token.id for token in start.committed[: len(ids)]] == ids:
                committed = start.committed[len(ids) :]
                num_held = self._context.keep_hole(
                    [token.id for token in (first[-1], *committed)][:-1]
                )
                first += committed[:num_held]
                draft = draft.part(num_held)
            else:
                self._context.rewind()
        sources = DraftSources(
            context=task.context, draft=draft, others=self._past_answers.lookup_rows()
        )
        hole = self.write_after(task, first, on_round, sources=sources)
        return hole.after_forwards(num_forwards)

    def write(
        self, task: FillTask, on_round: OnRound | None = None, *, rank: int = 0
    ) -> HoleTokens:
        """Decode from nothing, beginning with the ``rank``-th next likely token."""
        first, num_forwards = self._predict_first(task, rank)
        sources = DraftSources(context=task.context, revised=task.repeated)
        hole = self.write_after(task, first, on_round, sources=sources)
        return hole.after_forwards(num_forwards)

    def write_otherwise(
        self, task: FillTask, number: int, on_round: OnRound | None = None
    ) -> HoleTokens:
        """Decode the ``number``-th likeliest text that leaves the likeliest one at a token.

        The rest after that token is the likeliest again. Return the likeliest text itself where no
        other token may stand.
        """
        start = None if task.request.fresh or task.is_turn else self.find_start(task)
        likeliest = self.write(task) if start is None else self._write_warm(task, start, _ignore)
        self._context.reopen(len(task.context))
        others = self._other_tokens(task, likeliest.ids)
        if number > len(others):
            return likeliest
        other = others[number - 1]
        before = likeliest.scored(0, other.place)
        self._context.prefill([*task.context, *(it.id for it in before)], task.control)
        [chosen] = score_tokens(self._context.next_logits()[None], [other.id])
        chosen = replace(chosen, confidence=other.confidence)
        hole = self.write_after(task, [*before, chosen], on_round)
        return hole.after_forwards(likeliest.num_forwards + 1)

    def _other_tokens(self, task: FillTask, ids: Sequence[int]) -> list["_Other"]:
        """Return other tokens that may stand in a text, the likeliest texts up to there first."""
        hidden = self._context.hidden_after(ids[:-1], task.control)
        logits = floats(self._context.backbone.logits(hidden))
        beginning = Beginning(self._text, task.healed, task.request.names)
        found: list[tuple[float, _Other]] = []
        before = 0.0
        for place, (token, row) in enumerate(zip(ids, logits, strict=True)):
            allowed = beginning.allowed() if beginning.is_bound else None
            among = row if allowed is None else row[allowed]
            log_p = among - logsumexp(among[None])[0]
            for index in map(int, largest(among, min(_NUM_NEAREST, len(among)))):
                other = index if allowed is None else int(allowed[index])
                is_empty = place == 0 and other in self._text.end_ids
                if other != token and not is_empty:
                    chance = float(log_p[index])
                    found.append((before + chance, _Other(place, other, math.exp(chance))))
            own = token if allowed is None else int(np.flatnonzero(allowed == token)[0])
            before += float(log_p[own])
            beginning.take(token)
        return [other for _, other in sorted(found, reverse=True)]

    def write_after(
        self,
        task: FillTask,
        first: Sequence[ScoredToken],
        on_round: OnRound | None = None,
        *,
        sources: DraftSources | None = None,
    ) -> HoleTokens:
        """Decode after the first tokens of a hole; the context holds all but the last of these."""
        request, backbone = task.request, self._context.backbone
        hole = self._hole_request(task, first)
        is_drafting = backbone.drafting is not None and request.decoding == "speculative"
        return decode_speculatively(
            SpeculativePasses(self._context),
            hole,
            SpeculationPolicy.for_row_cost(backbone.row_cost) if is_drafting else AUTOREGRESSIVE,
            sources=sources or DraftSources(context=task.context),
            control=task.control,
            on_round=on_round,
        )

    def rewrite(self, task: FillTask, on_round: OnRound | None) -> HoleTokens:
        """Rewrite the task's draft. Nothing is drafted, so ``decoding`` is ignored."""
        request = task.request
        seed = request.seed + request.alternative
        temperature = (1.0 if seed else 0.0) if request.temperature is None else request.temperature
        return rewrite(
            RewritePasses(self._context),
            RewriteRequest(
                draft_ids=task.draft,
                suffix_ids=task.suffix,
                end_ids=self._text.end_ids,
                max_forwards=request.max_steps,
            ),
            RewritePolicy(noise=request.noise, temperature=temperature),
            generator=np.random.default_rng(seed),
            control=task.control,
            on_round=on_round,
        )

    def tokens(self, task: FillTask, hole: HoleTokens) -> tuple[CanvasToken, ...]:
        """Return the tokens up to the hole's end; the last one is cut where a stop text begins."""
        return HoleText(self._text, task).tokens(
            hole.ids, hole.confidences, num_committed=hole.num_committed
        )

    def answer(self, task: FillTask, hole: HoleTokens) -> Answer:
        """Return the answer that a decoded hole is for a client."""
        has_ended = hole.finish_reason == "end"
        text = HoleText(self._text, task)
        return Answer(
            hole=hole,
            tokens=self.tokens(task, hole),
            end_confidence=text.end_confidence(hole.ids, hole.confidences) if has_ended else None,
        )

    def _hole_request(self, task: FillTask, first: Sequence[ScoredToken]) -> HoleRequest:
        hole_text = HoleText(self._text, task)
        return HoleRequest(
            first=first,
            num_until_end=hole_text.num_until_end,
            end_rule=EndRule(ids=self._text.end_ids, may_follow=hole_text.may_end),
            max_tokens=task.request.max_tokens,
            max_forwards=task.request.max_steps,
        )

    def _predict_first(self, task: FillTask, rank: int) -> tuple[list[ScoredToken], int]:
        """Return a hole's first tokens, as its beginning binds them, and the passes made."""
        first: list[ScoredToken] = []
        beginning, num_forwards = Beginning(self._text, task.healed, task.request.names), 0
        while not first or beginning.is_bound:
            task.control.checkpoint()
            if first:
                num_forwards += self._context.extend(first[-1].id)
            allowed = beginning.allowed() if beginning.is_bound else None
            first.append(_take(self._context.next_logits(), allowed, rank))
            beginning.take(first[-1].id)
            rank = 0
        return first, num_forwards


class _Other(NamedTuple):
    """A token that may stand at a place of a text instead of the one there."""

    place: int
    id: int
    confidence: float  # after the text before it


_NUM_NEAREST = 4
"""Tokens of each place that are looked at, the one that stands there among them."""


def _ignore(hole: HoleTokens) -> None:
    pass


def _take(logits: Array, allowed: npt.NDArray[np.int64] | None, rank: int) -> ScoredToken:
    """Return the ``rank``-th next likely of the allowed tokens (None: all), scored among these."""
    if allowed is None:
        chosen = int(largest(logits, rank + 1)[-1])
        return score_tokens(logits[None], [chosen])[0]
    among = logits[allowed]
    chosen = int(largest(among, min(rank + 1, len(allowed)))[-1])
    return replace(score_tokens(among[None], [chosen])[0], id=int(allowed[chosen]))
