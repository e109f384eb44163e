"""Proposals that may repair one place of a text: small edits that parse, and spans to refill.

A place is an error of the parser, or the range of a diagnostic in a text that parses. Near where
the parser could not go on, a token is deleted, inserted, replaced, or swapped with the one before
it. Brackets are also closed, and removed, further away: of these the parser tells only where the
file ends, but indentation tells where the code in them ends.
"""

import difflib
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from intarsia.infill.languages import Language
from intarsia.infill.repair.error_places import (
    ErrorPlace,
    Token,
    apart,
    error_places,
    index_at,
    tokens_of,
)
from intarsia.infill.replacement import Replacement
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import (
    CLOSERS,
    PAIRS,
    columns,
    leading_blank,
    line_at,
    line_end,
    line_start,
    next_line_start,
)
from intarsia.infill.syntax.tree import MAX_ERRORS, Syntax, num_errors, parse_afresh, parse_edited
from intarsia.infill.text_change import TextRange

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


MAX_BRACKETS = 8
"""Brackets without a partner that are looked at, the nearest before the error."""

_CLOSE_RANK = 1.5
_DELETE_RANK = 3.0
_STEP = 0.5


def bracket_proposals(text: str, tokens: Sequence[Token], offset: int) -> Iterator[Proposal]:
    """Yield edits of brackets before an error at ``offset``."""
    unclosed, closed = _matched([token for token in tokens if token.start < offset])
    for number, opener in enumerate(reversed(unclosed[-MAX_BRACKETS:])):
        for place in _places_to_close(text, opener):
            yield _closing(text, opener, place, rank=_CLOSE_RANK + _STEP * number)
        yield deletion(text, opener, rank=_DELETE_RANK + _STEP * number)
    crooked = [pair for pair in closed if not _is_straight(text, *pair)]
    for number, (_, closer) in enumerate(reversed(crooked[-MAX_BRACKETS:])):
        yield deletion(text, closer, rank=_DELETE_RANK + _STEP * number)
    for number, (opener, _) in enumerate(reversed(crooked[-MAX_BRACKETS:])):
        for place in _places_to_close(text, opener):
            yield _closing(text, opener, place, rank=_CLOSE_RANK + _STEP * number)


def _matched(tokens: Sequence[Token]) -> tuple[list[Token], list[tuple[Token, Token]]]:
    """Return the brackets that are open at the end, and the pairs of those that are closed."""
    unclosed: list[Token] = []
    closed: list[tuple[Token, Token]] = []
    for token in tokens:
        if token.kind in PAIRS:
            unclosed.append(token)
        elif unclosed and PAIRS[unclosed[-1].kind] == token.kind:
            closed.append((unclosed.pop(), token))
    return unclosed, closed


def _is_straight(text: str, opener: Token, closer: Token) -> bool:
    """Whether a bracket ends on the line where it begins, or at the indentation of that line."""
    opened, closing = line_at(text, opener.start), line_at(text, closer.start)
    return opened == closing or columns(opened) == columns(closing)


def _places_to_close(text: str, opener: Token) -> Iterator[int]:
    """Yield the ends of lines where the code in a bracket may end, by indentation."""
    indent = columns(line_at(text, opener.start))
    last = line_end(text, opener.end)
    yield last
    start = next_line_start(text, opener.end)
    while start < len(text):
        line = text[start : line_end(text, start)]
        if line.strip() and columns(line) <= indent:
            break
        if line.strip() or columns(line) == indent:
            last = start + len(line)
        start = next_line_start(text, start)
    yield last


def _closing(text: str, opener: Token, place: int, *, rank: float) -> Proposal:
    """Return the insertion of the closing bracket at the end of a line: of a block, on its own."""
    kind = PAIRS[opener.kind]
    line = line_at(text, place)
    is_own_line = kind == "}" and place > line_end(text, opener.end) and line.strip()
    if not is_own_line:
        end = place - (len(line) - len(line.rstrip())) if line.strip() else place
        return insertion(text, end, kind, rank=rank)
    indent = leading_blank(line_at(text, opener.start))
    return Proposal(start=place, end=place, new=f"\n{indent}{kind}", kind="insert", rank=rank)


class ParseCheck:
    """One parsed text, and how many errors an edit of it may leave."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax
        self.max_errors = max(0, num_errors(syntax) - 1)  # fewer where a text has any

    def errors_with(self, edit: Proposal) -> int:
        """Return the number of errors with the edit; the most that are counted if it is unknown."""
        after = parse_edited(self._syntax, edit.start, edit.end, edit.new)
        if after is None:
            return MAX_ERRORS
        return num_errors(after) if after.tree.root_node.has_error else 0

    def passes(self, edit: Proposal) -> bool:
        """Whether the text parses with the edit, or has as few errors as one may leave."""
        return self.errors_with(edit) <= self.max_errors

    def passes_afresh(self, edit: Proposal) -> bool:
        """The same of a tree that owes nothing to the broken one."""
        text = self._syntax.text
        text = text[: edit.start] + edit.new + text[edit.end :]
        after = parse_afresh(text, self._syntax.language)
        return after is not None and num_errors(after) <= self.max_errors


LIMIT_S = 1.0
"""The time of a thread in which edits are parsed. Those that most likely parse come first."""

MAX_CHARS = 200_000
"""A longer text is not repaired: each edit of it is parsed."""

MAX_EDITS = 48
MAX_SPANS = 2
MAX_SIMILAR = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The edits at one place that parse, best first, and the spans to refill, smallest first."""

    syntax: Syntax
    check: ParseCheck
    edits: Sequence[Proposal]
    spans: Sequence[TextRange]  # to refill: of a token, or empty between two
    lines: Sequence[TextRange]  # whole lines, to be refilled where nothing smaller helps


def find_proposals(text: str, start: int, end: int, language: Language) -> Found | NoSuggestion:
    """Return what may repair the error at a range: the parser's nearest, else the range itself.

    Takes up to some seconds of processor time.
    """
    if len(text) > MAX_CHARS:
        return NoSuggestion(reason=f"the file is longer than {MAX_CHARS:,} characters")
    syntax = parse_afresh(text, language)
    if syntax is None:
        return NoSuggestion(reason=f"this {language.id} file cannot be parsed")
    places = error_places(syntax)
    if syntax.tree.root_node.has_error and not places:
        return NoSuggestion(reason="the parser does not say where the error is")
    tokens = tokens_of(syntax)
    if not places:
        return _found_in_range(syntax, tokens, start, end)
    return _found_at_error(syntax, tokens, _nearest(text, places, start, end))


def _nearest(text: str, places: Iterable[ErrorPlace], start: int, end: int) -> ErrorPlace:
    """Return the first error on the lines of a range, else the one that is nearest to it."""
    first, last = line_start(text, start), line_end(text, end)
    return min(places, key=lambda it: max(first - it.offset, it.offset - last, 0))


def _found_at_error(syntax: Syntax, tokens: Sequence[Token], place: ErrorPlace) -> Found:
    check, text = ParseCheck(syntax), syntax.text
    proposals = [
        *proposals_near(text, tokens, place),
        *bracket_proposals(text, tokens, place.offset),
    ]
    passed = _passing(check, sorted(proposals, key=lambda it: it.rank))
    spans = [TextRange(start=it.start, end=it.end) for it in passed if it.is_placeholder]
    return Found(
        syntax=syntax,
        check=check,
        edits=[it for it in passed if not it.is_placeholder][:MAX_EDITS],
        spans=spans[:MAX_SPANS],
        lines=_lines_around(text, tokens, place.offset),
    )


def _found_in_range(syntax: Syntax, tokens: Sequence[Token], start: int, end: int) -> Found:
    """Return similar names for the name in a range, and the range's token to refill."""
    at = index_at(tokens, start)
    token = tokens[at] if at < len(tokens) and tokens[at].start < max(end, start + 1) else None
    check = ParseCheck(syntax)
    edits = [] if token is None else _similar(syntax, tokens, token)
    spans = [] if token is None else [TextRange(start=token.start, end=token.end)]
    return Found(
        syntax=syntax,
        check=check,
        edits=[it for it in edits if check.passes(it)],
        spans=spans,
        lines=_lines_around(syntax.text, tokens, end),
    )


def _similar(syntax: Syntax, tokens: Sequence[Token], token: Token) -> list[Proposal]:
    """Return replacements of a name by the names of the file that are spelt most like it."""
    text = syntax.text
    name = text[token.start : token.end]
    if not name.isidentifier():
        return []
    names = {text[it.start : it.end] for it in tokens if it.is_named} - {name}
    known = sorted(it for it in names if it.isidentifier())
    return [
        Proposal(start=token.start, end=token.end, new=other, kind="replace", rank=rank)
        for rank, other in enumerate(difflib.get_close_matches(name, known, MAX_SIMILAR, 0.7))
    ]


def _passing(check: ParseCheck, proposals: Iterable[Proposal]) -> list[Proposal]:
    """Return the proposals that leave the fewest errors, as far as time allows.

    From then on no edit passes the check that leaves more.
    """
    end = time.thread_time() + LIMIT_S
    passed: list[Proposal] = []
    for proposal in proposals:
        num_errors = check.errors_with(proposal)
        if num_errors < check.max_errors:
            check.max_errors, passed = num_errors, []
        if num_errors <= check.max_errors:
            passed.append(proposal)
        if time.thread_time() > end:
            break
    return passed


def _lines_around(text: str, tokens: Sequence[Token], offset: int) -> list[TextRange]:
    """Return the code of the line before an error, and of the line at it."""
    at = index_at(tokens, offset)
    ends = [token.start for token in tokens[max(0, at - 1) : at + 1]]
    starts = dict.fromkeys(line_start(text, it) for it in ends)
    return [
        TextRange(start=start + len(leading_blank(line_at(text, start))), end=line_end(text, start))
        for start in starts
    ]
