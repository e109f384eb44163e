"""Decides what a fill replaces and what goes around it, so that a body gets lines of its own.

Comments stay; one that follows the replaced statement on its line goes above the fill.
"""

from intarsia.infill.holes.marked_hole import MarkedHole
from intarsia.infill.syntax.body import Body, ByteRange, trailing_comment
from intarsia.infill.syntax.lines import leading_blank, line_end, line_start, newline_of
from intarsia.infill.syntax.parse import Syntax

DEFAULT_INDENT_UNIT = "    "


def at_empty_body(syntax: Syntax, body: Body) -> MarkedHole:
    """Return the inside of an empty body."""
    start, end = _offsets(syntax, body.inside)
    if not body.is_closed:
        start = end = line_end(syntax.text, start)
    return _on_own_line(syntax, body, start, end)


def below_comments(syntax: Syntax, body: Body) -> MarkedHole:
    """Return the place below the comments of a body that holds nothing else."""
    text = syntax.text
    start, end = _offsets(syntax, body.comments[-1])
    end = start + len(text[start:end].rstrip())  # some grammars include the line end
    closer = syntax.offset_at(body.inside.end)
    if body.is_closed and not text[end:closer].strip(" \t"):
        return _on_own_line(syntax, body, end, closer)
    blank = text[line_start(text, start) : start]
    indent = body.indent + _unit(syntax) if blank.strip() else blank
    return MarkedHole(start=end, end=end, before=newline_of(text) + indent)


def at_statement(syntax: Syntax, statement: ByteRange, body: Body | None = None) -> MarkedHole:
    """Return the place of a statement or expression. Pass ``body`` if it holds nothing else."""
    text = syntax.text
    start, end = _offsets(syntax, statement)
    comment = trailing_comment(syntax, statement)
    comment_text, last = "", end
    if comment is not None:
        first, last = _offsets(syntax, comment)
        comment_text = text[first:last].rstrip()
        last = first + len(comment_text)
    lead = text[line_start(text, start) : start]
    is_at_line_end = not text[last : line_end(text, last)].strip()
    if not lead.strip(" \t\ufeff") and is_at_line_end:
        before = comment_text and comment_text + newline_of(text) + leading_blank(lead)
        return MarkedHole(start=start, end=last, before=before)
    if body is not None and not body.is_closed and is_at_line_end:
        hole = _on_own_line(syntax, body, syntax.offset_at(body.inside.start), last)
        return hole if not comment_text else _with_comment(hole, comment_text)
    if body is not None and body.is_closed and not body.comments:
        return _on_own_line(syntax, body, *_offsets(syntax, body.inside))
    return MarkedHole(start=start, end=end)


def _on_own_line(syntax: Syntax, body: Body, start: int, end: int) -> MarkedHole:
    newline = newline_of(syntax.text)
    return MarkedHole(
        start=start,
        end=end,
        before=newline + body.indent + _unit(syntax),
        after=newline + body.indent if body.is_closed else "",
    )


def _with_comment(hole: MarkedHole, comment: str) -> MarkedHole:
    return MarkedHole(start=hole.start, end=hole.end, before=f"  {comment}{hole.before}")


def _unit(syntax: Syntax) -> str:
    return syntax.indent_unit or DEFAULT_INDENT_UNIT


def _offsets(syntax: Syntax, byte_range: ByteRange) -> tuple[int, int]:
    return syntax.offset_at(byte_range.start), syntax.offset_at(byte_range.end)
