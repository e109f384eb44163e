"""The tokens of a hole as frozen values: scored, drafted and committed. Knows no text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from intarsia.engine.arrays import Array, chosen, floats, namespace

EndReason: TypeAlias = Literal["end", "max_tokens", "max_steps", "deadline"]
"""Why a hole ends after its last token; "end" is an end token or a stop text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredToken:
    """A token with figures of the distribution that it was taken from."""

    id: int
    confidence: float  # its probability, given what is typed of it
    entropy: float  # nats


def score_tokens(logits: Array, ids: Sequence[int]) -> list[ScoredToken]:
    """Return each id with its probability and entropy under its row of logits (rows, vocab)."""
    logits = floats(logits)
    xp = namespace(logits)
    below = logits - xp.max(logits, axis=-1, keepdims=True)
    weights = xp.exp(below)
    total = xp.sum(weights, axis=-1)
    confidences = chosen(weights, ids) / total
    entropies = xp.log(total) - xp.sum(weights * below, axis=-1) / total
    return [
        ScoredToken(id=i, confidence=c, entropy=e)
        for i, c, e in zip(ids, confidences.tolist(), entropies.tolist(), strict=True)
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleTokens:
    """The tokens of a hole in order; the first ``num_committed`` are final, the others drafted."""

    ids: list[int] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)  # nats; drafted tokens may have none
    num_committed: int = 0
    num_forwards: int = 0
    finish_reason: EndReason = "end"

    def then(
        self, ids: Sequence[int], confidences: Sequence[float], entropies: Sequence[float] = ()
    ) -> "HoleTokens":
        """Return these tokens followed by drafted ones."""
        return replace(
            self,
            ids=[*self.ids, *ids],
            confidences=[*self.confidences, *confidences],
            entropies=[*self.entropies, *entropies],
        )

    def then_committed(self, tokens: Sequence[ScoredToken]) -> "HoleTokens":
        """Return these tokens followed by others, all committed."""
        text = self.then(
            [token.id for token in tokens],
            [token.confidence for token in tokens],
            [token.entropy for token in tokens],
        )
        return replace(text, num_committed=len(text.ids))

    def scored(self, start: int = 0, end: int | None = None) -> list[ScoredToken]:
        """Return the tokens from ``start`` up to ``end``, as far as their entropies are known."""
        columns = zip(self.ids, self.confidences, self.entropies, strict=False)
        scored = [ScoredToken(id=i, confidence=c, entropy=e) for i, c, e in columns]
        return scored[start:end]

    def after_forwards(self, num_forwards: int) -> "HoleTokens":
        """Return the same tokens with more forward passes counted."""
        return replace(self, num_forwards=self.num_forwards + num_forwards)

    def cut(self, length: int, reason: EndReason) -> "HoleTokens":
        """Return the first ``length`` tokens, and why the hole ends there."""
        return replace(
            self,
            ids=self.ids[:length],
            confidences=self.confidences[:length],
            entropies=self.entropies[:length],
            num_committed=min(self.num_committed, length),
            finish_reason=reason,
        )


OnRound: TypeAlias = Callable[[HoleTokens], None]
"""Receives the whole hole, drafted tokens included, before each forward pass and at the end."""


TokensUntilEnd: TypeAlias = Callable[[Sequence[int]], int | None]
"""Hole ids → how many of these the hole needs, None while it has not ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EndRule:
    """The tokens that end a hole, and whether one of these may follow given hole ids."""

    ids: frozenset[int] = frozenset()
    may_follow: Callable[[Sequence[int]], bool] = lambda _: True


END_ANYWHERE = EndRule()


@dataclass(frozen=True, kw_only=True, slots=True)
class HoleRequest:
    """One hole to decode.

    ``first`` holds its first tokens, at least one, which are committed already. The backbone holds
    the keys and values of all but the last of these.
    """

    first: Sequence[ScoredToken]
    num_until_end: TokensUntilEnd
    end_rule: EndRule = END_ANYWHERE
    max_tokens: int
    max_forwards: int | None = None
