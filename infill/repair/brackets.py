"""Edits of brackets that may be far from where the parser could not go on.

A bracket that is not closed often shows at the end of the file only, and one too many at another
one. Indentation tells where the code in a bracket ends.
"""

from collections.abc import Iterator, Sequence

from intarsia.infill.repair.proposals import Proposal, deletion, insertion
from intarsia.infill.repair.tokens import Token
from intarsia.infill.syntax.brackets import PAIRS
from intarsia.infill.syntax.lines import columns, leading_blank, line_at, line_end, next_line_start

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
