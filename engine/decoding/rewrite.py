"""Rewrite a draft: mask its least sure tokens and predict them again between the ones that stay.

A causal backbone scores the draft once. The masked runs are then filled from left to right.
A kept token that a change makes unlikely is masked too. The draft keeps its
number of tokens, and is a whole answer after every pass. Knows ids, no text.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from intarsia.engine.arrays import Array, chosen, excluding, floats, largest, logsumexp, namespace
from intarsia.engine.decoding.speculative import Verifier
from intarsia.engine.decoding.tokens import (
    EndReason,
    HoleTokens,
    OnRound,
    ScoredToken,
    score_tokens,
)
from intarsia.engine.diffusion.noise import num_noised
from intarsia.engine.fill_control import FillControl

_MAX_ROWS = 64  # tokens scored in a pass; each has a row of logits as wide as the vocabulary


class BranchVerifier(Verifier, Protocol):
    """A causal backbone that scores several continuations in one pass."""

    def next_logits(self) -> Array:
        """Return logits (vocab,) of the hole's first token."""

    def branch(self, branches: Sequence[Sequence[int]]) -> list[Array]:
        """Return logits (tokens, vocab) after each token of each branch, apart from each other."""

    def rewind(self) -> None:
        """Forget all tokens of the hole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RewritePolicy:
    """How much of a draft is masked, and what replaces it.

    A kept token is masked if its probability fell below ``floor`` and below ``floor`` times its
    earlier one. The defaults repaired most and spoilt least of the variants tried: 1 to 3 tokens
    ahead, margins of 0 to 2, runs that may grow or shrink by 0 to 2 tokens.
    """

    noise: float  # share of the tokens that is masked
    temperature: float = 0.0  # above 0, masked tokens and runs are sampled
    num_beginnings: int = 4  # candidates for a run, beside the draft's own
    num_ahead: int = 2  # tokens after a run that are scored with it
    max_run: int = 6  # longer runs are filled piece by piece
    margin: float = 1.0  # nats that a run must be likelier by than the draft's; sampled runs: 0
    floor: float = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class RewriteRequest:
    """A draft of at least one token, and the text after it."""

    draft_ids: Sequence[int]
    suffix_ids: Sequence[int]
    end_ids: frozenset[int]
    max_forwards: int | None = None


def rewrite(
    verifier: BranchVerifier,
    request: RewriteRequest,
    policy: RewritePolicy,
    *,
    generator: np.random.Generator,
    control: FillControl,
    on_round: OnRound | None,
) -> HoleTokens:
    """Rewrite a draft, in a pass or more; a deadline leaves the rest. Raises Cancelled."""
    return _Rewriting(verifier, request, policy, generator, control).run(on_round)


class _Interrupted(Exception):
    def __init__(self, reason: Literal["max_steps", "deadline"]) -> None:
        self.reason = reason


class _Rewriting:
    """A draft, committed before ``position``. The verifier holds this but for the last run."""

    def __init__(
        self,
        verifier: BranchVerifier,
        request: RewriteRequest,
        policy: RewritePolicy,
        generator: np.random.Generator,
        control: FillControl,
    ) -> None:
        self._verifier = verifier
        self._policy = policy
        self._generator = generator
        self._end_ids = sorted(request.end_ids)
        self._suffix_ids = list(request.suffix_ids[: policy.num_ahead])
        self._max_forwards = request.max_forwards
        self._control = control
        self._tokens = [ScoredToken(id=i, confidence=0.0, entropy=0.0) for i in request.draft_ids]
        self._is_masked = [False] * len(self._tokens)
        self._position = 0
        self._num_forwards = 0
        self._next_logits = verifier.next_logits()  # (vocab,) after the held tokens
        self._last_run: list[int] = []

    def run(self, on_round: OnRound | None) -> HoleTokens:
        try:
            self._mask()
            while self._position < len(self._tokens):
                if on_round:
                    on_round(self._hole_tokens("max_steps"))
                self._take_kept()
                self._fill_run()
        except _Interrupted as interrupted:
            return self._hole_tokens(interrupted.reason)
        rewritten = self._hole_tokens("end")
        if on_round:
            on_round(rewritten)
        return rewritten

    def _mask(self) -> None:
        """Score the draft and mask its least sure tokens."""
        first_logits = self._next_logits
        for first in range(0, len(self._tokens), _MAX_ROWS):
            ids = self._ids(first, first + _MAX_ROWS)
            logits = self._verify(ids)
            self._tokens[first : first + len(ids)] = score_tokens(logits[:-1], ids)
            self._hold(len(ids), logits)
        self._verifier.rewind()
        self._next_logits = first_logits
        for position in least_sure(
            np.array([math.log(max(token.confidence, 1e-30)) for token in self._tokens]),
            self._policy.noise,
            temperature=self._policy.temperature,
            generator=self._generator,
        ):
            self._is_masked[position] = True

    def _take_kept(self) -> None:
        """Commit the kept tokens after the last run, up to one that has become unlikely."""
        start, num_run = self._position, len(self._last_run)
        kept = self._ids(start, self._end(start, _MAX_ROWS, is_masked=False))
        if not kept and not num_run:
            return
        logits = self._verify([*self._last_run, *kept])
        self._last_run = []
        now = score_tokens(logits[num_run : num_run + len(kept)], kept) if kept else []
        before = self._tokens[start : start + len(kept)]
        fallen = (i for i, pair in enumerate(zip(before, now, strict=True)) if self._fell(*pair))
        num_held = next(fallen, len(kept))
        self._tokens[start : start + num_held] = now[:num_held]
        self._position += num_held
        if num_held < len(kept):
            self._is_masked[self._position] = True
        self._hold(num_run + num_held, logits)

    def _fell(self, before: ScoredToken, now: ScoredToken) -> bool:
        floor = self._policy.floor
        return now.confidence < floor and now.confidence < floor * before.confidence

    def _fill_run(self) -> None:
        """Fill the masked run at the position, if there is one: a pass for each of its tokens."""
        start = self._position
        end = self._end(start, self._policy.max_run, is_masked=True)
        if end == start:
            return
        num_ahead = self._policy.num_ahead
        kept_after = self._ids(end, self._end(end, num_ahead, is_masked=False))
        ids_after = kept_after or self._ids(end, end + num_ahead)
        is_last = end + len(ids_after) == len(self._tokens)  # the hole ends after these
        run = self._choose_run(self._ids(start, end), ids_after, is_last=is_last)
        self._tokens[start:end] = run
        self._is_masked[start:end] = [False] * len(run)
        self._position = end
        self._last_run = [token.id for token in run]

    def _choose_run(
        self, own_ids: list[int], ids_after: list[int], *, is_last: bool
    ) -> list[ScoredToken]:
        """Return the tokens of a masked run, as many as the draft's own.

        Others replace these if they are likelier by more than the margin. Above temperature 0, a
        run is sampled by its likelihood.
        """
        written = self._continue_beginnings(len(own_ids))
        candidates = [own_ids, *(ids for ids in written if ids != own_ids)]
        tail = [*ids_after, *(self._suffix_ids if is_last else ())]
        rows = [
            _with_row_before(self._next_logits, after)
            for after in self._branch([[*ids, *tail] for ids in candidates])
        ]
        pairs = zip(candidates, rows, strict=True)
        scores = np.array(
            [self._score([*ids, *ids_after], row, is_last=is_last) for ids, row in pairs]
        )
        temperature = self._policy.temperature
        scores[0] += 0.0 if temperature else self._policy.margin
        noise = temperature * self._generator.gumbel(size=len(candidates))
        best = int((scores + noise).argmax())
        return score_tokens(rows[best][: len(own_ids)], candidates[best])

    def _continue_beginnings(self, length: int) -> list[list[int]]:
        """Return the likeliest first tokens, each continued greedily to ``length``."""
        logits = self._without_ends(self._next_logits)
        runs = [[token] for token in largest(logits, self._policy.num_beginnings).tolist()]
        for _ in range(length - 1):
            for ids, after in zip(runs, self._branch(runs), strict=True):
                ids.append(int(self._without_ends(after[-1]).argmax()))
        return runs

    def _without_ends(self, logits: Array) -> Array:
        """Exclude end tokens: a rewritten draft keeps its number of tokens."""
        return excluding(self._end_ids, logits)

    def _score(self, tokens: list[int], logits: Array, *, is_last: bool) -> float:
        """Return the log-probability of a candidate and the tokens after it.

        At the end of the hole this includes that the hole ends there: by an end token, or by
        running on into the suffix.
        """
        logits = floats(logits)
        log_p = logits - logsumexp(logits)[:, None]
        score = _log_probability(log_p, tokens)
        if not is_last:
            return score
        log_end = float(logsumexp(log_p[len(tokens), self._end_ids]))
        if not self._suffix_ids:
            return score + log_end
        running_on = _log_probability(log_p[len(tokens) :], self._suffix_ids)
        return score + float(np.logaddexp(log_end, running_on))

    def _ids(self, start: int, end: int) -> list[int]:
        return [token.id for token in self._tokens[start:end]]

    def _end(self, start: int, max_length: int, *, is_masked: bool) -> int:
        """Return the end of the masked (or kept) tokens that begin at ``start``."""
        end = start
        while end - start < max_length and self._is_masked[end : end + 1] == [is_masked]:
            end += 1
        return end

    def _verify(self, ids: Sequence[int]) -> Array:
        """Return logits (1 + tokens, vocab) before and after each token."""
        self._begin_forward()
        causal = self._verifier.verify(ids)
        return _with_row_before(self._next_logits, causal)

    def _branch(self, branches: Sequence[Sequence[int]]) -> list[Array]:
        self._begin_forward()
        return self._verifier.branch(branches)

    def _hold(self, num_tokens: int, logits: Array) -> None:
        self._verifier.keep(num_tokens)
        self._next_logits = logits[num_tokens]

    def _begin_forward(self) -> None:
        """Count a pass. Raises Cancelled or _Interrupted if it must not be made."""
        self._control.checkpoint()
        if self._max_forwards is not None and self._num_forwards >= self._max_forwards:
            raise _Interrupted("max_steps")
        if self._num_forwards and self._control.is_late:
            raise _Interrupted("deadline")
        self._num_forwards += 1

    def _hole_tokens(self, reason: EndReason) -> HoleTokens:
        tokens = HoleTokens(num_forwards=self._num_forwards).then_committed(self._tokens)
        if reason == "end":
            return tokens
        return replace(tokens, num_committed=self._position, finish_reason=reason)


def _with_row_before(row: Array, rows: Array) -> Array:
    return namespace(rows).concat([row[None], rows])


def _log_probability(log_p: Array, tokens: Sequence[int]) -> float:
    return float(chosen(log_p[: len(tokens)], tokens).sum())


def least_sure(
    log_probabilities: npt.NDArray[np.float64],
    noise: float,
    *,
    temperature: float,
    generator: np.random.Generator,
) -> set[int]:
    """Return the least likely tokens' positions, after Gumbel noise of scale ``temperature``.

    Log-probabilities plus Gumbel noise have a sample as their argmax.
    """
    ranks = log_probabilities + temperature * generator.gumbel(size=len(log_probabilities))
    count = num_noised(len(log_probabilities), noise)
    return set(ranks.argsort(kind="stable")[:count].tolist())
