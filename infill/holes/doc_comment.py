"""The place of a docstring or documentation comment that the function at a cursor does not have."""

import tree_sitter

from intarsia.infill.holes.find_holes import named_functions
from intarsia.infill.holes.hole import MarkedHole
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.lines import leading_blank, line_at, line_start, newline_of
from intarsia.infill.syntax.parse import Syntax, parse

_OWN_LINE = ("@", "#[", "[", "template")
"""What lines between a comment and its function begin with: decorators, attributes."""

_COMMENT = ("//", "/*", "*", "#", "--")


def undocumented(text: str, start: int, end: int, language: Language) -> MarkedHole | NoSuggestion:
    """Return the place in the innermost function with a name that holds ``text[start:end]``."""
    syntax = parse(text, language)
    if syntax is None or not (language.has_docstrings or language.documentation):
        return NoSuggestion(reason=f"where {language.id} has its documentation is not known here")
    around = [
        (owner, body)
        for owner, body in named_functions(syntax)
        if _first_line(syntax, owner) <= start and end <= syntax.offset_at(owner.end_byte)
    ]
    if not around:
        return NoSuggestion(reason="there is no function here: put the cursor into one")
    owner, body = max(around, key=lambda it: it[0].start_byte)
    return _inside(syntax, body) if language.has_docstrings else _above(syntax, owner)


def _first_line(syntax: Syntax, owner: tree_sitter.Node) -> int:
    return line_start(syntax.text, syntax.offset_at(owner.start_byte))


def _inside(syntax: Syntax, body: tree_sitter.Node) -> MarkedHole | NoSuggestion:
    text, start = syntax.text, syntax.offset_at(body.start_byte)
    if text[start:].lstrip("rRuU").startswith(('"', "'")):
        return NoSuggestion(reason="this function has a docstring already")
    blank = text[line_start(text, start) : start]
    if blank.strip():
        return NoSuggestion(reason="the body begins in the line of its function: break the line")
    return MarkedHole(start=start, end=start, before='"""', after=f'"""{newline_of(text)}{blank}')


def _above(syntax: Syntax, owner: tree_sitter.Node) -> MarkedHole | NoSuggestion:
    text, start = syntax.text, _first_line(syntax, owner)
    above = ""
    while start > 0:
        above = line_at(text, start - 1).strip()
        if not above.startswith(_OWN_LINE):
            break
        start = line_start(text, start - 1)
    if (start > 0 and above.startswith(_COMMENT)) or above.endswith("*/"):
        return NoSuggestion(reason="there is a comment above this function already")
    name = owner.child_by_field_name("name")
    known = "" if name is None or name.text is None else name.text.decode("utf-8", "replace")
    begin, close = syntax.language.documentation or ("", "")
    blank = leading_blank(line_at(text, start))
    before = blank + begin.format(name=known)
    return MarkedHole(start=start, end=start, before=before, after=close + newline_of(text))
