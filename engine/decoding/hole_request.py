"""One hole to decode: its first tokens, where it ends, and its limits. Knows no text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.engine.decoding.tokens import ScoredToken

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
