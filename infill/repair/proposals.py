"""Small edits that may repair a text, as rules propose them: each changes one token, or two.

Near a place where the parser could not go on, a token is deleted, inserted, replaced, or swapped
with the one before it. Brackets are also closed, and removed, further away: of these the parser
tells only where the file ends. Whether the text parses with an edit is not tried here.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from intarsia.infill.repair.error_places import ErrorPlace, Token, apart, index_at
from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.brackets import CLOSERS, PAIRS

EditKind = Literal["insert", "delete", "replace", "swap", "refill"]

PLACEHOLDER = "x"
"""Stands for a name that is to be written by the model."""

MAX_BACK = 14
"""Tokens before an error that may be wrong."""

MAX_AHEAD = 1
"""Tokens after it: parsers go on where two ways to read a text are open."""

_APART = ("{", "=", "=>", "->", ":=", "+", "-", "*", "/", "==", "&&")  # written after a blank


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """``text[start:end]`` becomes ``new``. A smaller ``rank`` is tried first."""

    start: int
    end: int
    new: str
    kind: EditKind
    rank: float
    is_placeholder: bool = False

    @property
    def replacement(self) -> Replacement:
        """The same edit, without how it came about."""
        return Replacement(start=self.start, end=self.end, new=self.new)

    @property
    def num_changed(self) -> int:
        """How many characters are removed or written."""
        return self.end - self.start + len(self.new)


def proposals_near(text: str, tokens: Sequence[Token], place: ErrorPlace) -> Iterator[Proposal]:
    """Yield edits of the tokens around an error, the nearest and the most usual first."""
    usual = _Usual(tokens)
    found: list[Proposal] = []
    at = index_at(tokens, place.offset)
    for index in range(max(0, at - MAX_BACK), min(len(tokens), at + MAX_AHEAD) + 1):
        distance = at - index if index <= at else 2 * (index - at)
        found += _edits_at(text, tokens, index, distance, place.expected, usual)
    yield from sorted(found, key=lambda it: it.rank)


class _Usual:
    """How often each unnamed token is in a text, as a rank from 0 (usual) to 1 (never)."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        counts = Counter(token.kind for token in tokens if not token.is_named)
        self._ranks = {kind: rank for rank, (kind, _) in enumerate(counts.most_common())}

    def rank(self, kind: str) -> float:
        return min(self._ranks.get(kind, 40), 40) / 40


def _edits_at(
    text: str,
    tokens: Sequence[Token],
    index: int,
    distance: float,
    expected: Mapping[int, Collection[str]],
    usual: _Usual,
) -> Iterator[Proposal]:
    before = tokens[index - 1].end if index else 0
    kinds = sorted(expected.get(before, ()), key=lambda kind: (usual.rank(kind), kind))
    for kind in kinds:
        yield insertion(text, before, kind, rank=distance + 2 * usual.rank(kind))
    yield insertion(text, before, PLACEHOLDER, rank=distance + 0.6)
    if index >= len(tokens):
        return
    token = tokens[index]
    yield deletion(text, token, rank=distance + 0.3)
    for kind in kinds:
        if kind != token.kind:
            yield _replacement(text, token, kind, rank=distance + 1 + 2 * usual.rank(kind))
    yield _replacement(text, token, PLACEHOLDER, rank=distance + 1.2)
    if index:
        yield _swap(text, tokens[index - 1], token, rank=distance + 0.8)


def insertion(text: str, before: int, kind: str, *, rank: float) -> Proposal:
    """Return the insertion of a token between the token that ends at ``before`` and the next."""
    after = before
    while after < len(text) and text[after] in " \t":
        after += 1
    is_end_of_line = after == len(text) or text[after] in "\r\n"
    gap = after - before
    is_attached = kind in CLOSERS or kind in (",", ";", ":", ".")
    if is_end_of_line or not gap:
        start, new = before, kind
        is_after_mark = text[before - 1 : before] not in ("", " ", "\n", "\t", *PAIRS)
        if is_after_mark and (kind.isalpha() or kind in _APART):
            new = f" {kind}"
    elif is_attached:
        start, new = before, kind
    elif gap >= 2:
        start, new = before + gap // 2, kind
    else:
        start, new = after, kind if kind in PAIRS else f"{kind} "
    new = apart(text[:start], new, text[start:]) if gap < 2 else new
    return Proposal(
        start=start,
        end=start,
        new=new,
        kind="insert",
        rank=rank,
        is_placeholder=kind is PLACEHOLDER,
    )


def deletion(text: str, token: Token, *, rank: float) -> Proposal:
    start, end = token.start, token.end
    is_after_blank = text[start - 1 : start] in (" ", "\t", "\n", "")
    if is_after_blank and text[end : end + 1] == " ":
        end += 1  # of the blanks on both sides one stays
    new = apart(text[:start], "", text[end:])
    return Proposal(start=start, end=end, new=new, kind="delete", rank=rank)


def _replacement(text: str, token: Token, kind: str, *, rank: float) -> Proposal:
    new = apart(text[: token.start], kind, text[token.end :])
    return Proposal(
        start=token.start,
        end=token.end,
        new=new,
        kind="replace",
        rank=rank,
        is_placeholder=kind is PLACEHOLDER,
    )


def _swap(text: str, one: Token, other: Token, *, rank: float) -> Proposal:
    left, between, right = (
        text[one.start : one.end],
        text[one.end : other.start],
        text[other.start : other.end],
    )
    new = f"{right}{apart(right, between, left)}{left}"
    return Proposal(start=one.start, end=other.end, new=new, kind="swap", rank=rank)
