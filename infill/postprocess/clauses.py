"""Keeps the clauses of SQL in their order, in its files and in the strings of other languages.

No grammar checks this: in most of them each clause is a statement of its own.

FROM a⏎├WHERE b┤⏎GROUP BY c   →   as it is
FROM a⏎├LIMIT 1┤⏎GROUP BY c   →   nothing
FROM a⏎├WHERE b;┤⏎GROUP BY c   →   FROM a⏎├WHERE b┤⏎GROUP BY c
ADD a,⏎├ADD b;┤⏎ADD c   →   ADD a,⏎├ADD b,┤⏎ADD c
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from intarsia.infill.postprocess.cut import NOTHING_FITS
from intarsia.infill.postprocess.fit import CleaningContext
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import columns

MAX_LINES_OF_STATEMENT = 40
"""So far from the hole a clause of its statement is looked for."""

_ORDER = ("from", "join", "where", "group", "having", "order", "limit", "offset", "returning")
_CLAUSE = re.compile(
    r"(?:(?:inner|cross|natural|(?:left|right|full)(?:\s+outer)?)\s+)?"
    r"(?P<word>from|join|where|group(?=\s+by)|having|order(?=\s+by)|limit|offset"
    r"|fetch(?=\s+(?:first|next))|returning)\b",
    re.IGNORECASE,
)
_BEGINS_STATEMENT = re.compile(
    r"(?:alter|begin|create|delete|end|except|insert|intersect|merge|select|set|union|update|values"
    r"|with)\b|[)\"'`]",
    re.IGNORECASE,
)
_JOINED = re.compile(r".*\bjoin\s+(?P<table>[^\s(]+(?:\s+(?:as\s+)?\w+)?)\s+on\b", re.IGNORECASE)


def keep_clause_order(fill: str, context: CleaningContext) -> str | NoSuggestion:
    """Reject a clause that comes too early or late, and drop a ``;`` above the next clause."""
    if context.language.has_clauses and fill.endswith(";") and _is_in_list(fill, context):
        return fill[:-1] + ","
    clause = _clause_of((context.line_before + fill).strip(), context)
    if clause is None or not context.is_line_empty or "\n" in fill:
        return fill
    column = columns(context.line_before + fill)
    above = context.above[:MAX_LINES_OF_STATEMENT]
    before = next(_clauses(above, column, context, is_upward=True), None)
    after = next(_clauses(context.following[:MAX_LINES_OF_STATEMENT], column, context), None)
    if (before and not before.may_precede(clause)) or (after and not clause.may_precede(after)):
        return NoSuggestion(reason=NOTHING_FITS, kind="empty")
    return fill.rstrip().removesuffix(";") if after else fill


def _is_in_list(fill: str, context: CleaningContext) -> bool:
    """Whether a line is between two parts of a list, at their column."""
    around = [*context.above[:1], *context.following[:1]]
    if len(around) < 2 or not context.is_line_empty or not around[0].endswith(","):
        return False
    is_last = any(it.match(around[1].strip()) for it in (_CLAUSE, _BEGINS_STATEMENT))
    return not is_last and {*map(columns, around)} == {columns(context.line_before + fill)}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Clause:
    name: str  # one of _ORDER
    table: list[str]  # of a join: the words that name its table; else empty

    def may_precede(self, other: "_Clause") -> bool:
        if self.name == other.name == "join":
            return not self.table or self.table != other.table
        if {self.name, other.name} == {"limit", "offset"}:
            return True
        return _ORDER.index(self.name) < _ORDER.index(other.name)


def _clause_of(line: str, context: CleaningContext) -> _Clause | None:
    """Return the clause that a line begins with; in a string it begins with capitals."""
    found = _CLAUSE.match(line)
    if found is None:
        return None
    word, joined = found["word"].lower(), _JOINED.match(line)
    if not context.language.has_clauses and not (context.is_in_string and found["word"].isupper()):
        return None
    table = joined["table"].lower().split() if joined else []
    return _Clause(name="limit" if word == "fetch" else word, table=table)


def _clauses(
    lines: Iterable[str], column: int, context: CleaningContext, *, is_upward: bool = False
) -> Iterator[_Clause]:
    """Yield the clauses that begin at the column, up to where the statement ends."""
    for line in lines:
        code = line.strip()
        is_end = columns(line) < column or (is_upward and code.endswith(";"))
        if is_end or (columns(line) == column and _BEGINS_STATEMENT.match(code)):
            return
        if columns(line) == column and (clause := _clause_of(code, context)):
            yield clause
        if code.endswith(";"):
            return
