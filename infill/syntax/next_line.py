"""Foretells what an editor inserts for Enter at the end of a line: its indentation.

The rules are those that most editors share. They look at one line only.
"""

import re

from intarsia.infill.languages import Language
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.indentation import indent_unit
from intarsia.infill.syntax.lines import leading_blank, line_end, line_start, newline_of

_DEFAULT_UNIT = " " * 4
_OPENERS = ("(", "[", "{")
_ENDS_BLOCK = re.compile(r"\s*(?:return|raise|break|continue|pass)\b")


def end_and_next_line(text: str, offset: int, language: Language) -> tuple[int, str]:
    """Return the end of the line at ``offset``, and what Enter inserts there."""
    end = line_end(text, offset)
    line = text[line_start(text, offset) : end]
    code = code_at(text, offset, offset, language)
    return end, newline_of(text) + _indentation_below(line, code.text, code.language)


def _indentation_below(line: str, text: str, language: Language) -> str:
    blank, unit = leading_blank(line), indent_unit(text) or _DEFAULT_UNIT
    if _opens_block(line, language):
        return blank + unit
    is_end = language.block_style == "indent" and _ENDS_BLOCK.match(line) is not None
    return blank.removesuffix(unit) if is_end else blank


def _opens_block(line: str, language: Language) -> bool:
    code = line.rstrip()
    if not code:
        return False
    is_header = language.header is not None and re.search(language.header, code) is not None
    return is_header or code.endswith(_OPENERS) or code[-1] in language.openers
