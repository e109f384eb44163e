"""Tells whether a fill may be cut short where it is: the code must be whole without its rest.

├f(x)║ + g(┤   →   yes
├f(║x)┤   →   no
"""

import re

from intarsia.infill.postprocess.close_on_own_line import close_on_own_line
from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.postprocess.parse_errors import is_no_worse


def is_whole_beginning(beginning: str, context: CleaningContext) -> bool:
    """Whether the file parses no worse with this beginning of a fill than without any.

    It may not end with the header of a block, and no bracket may have to move to a line of its own.
    """
    if _ends_with_header(beginning, context):
        return False
    return close_on_own_line(beginning, context) == beginning and is_no_worse(beginning, context)


def _ends_with_header(beginning: str, context: CleaningContext) -> bool:
    header = context.language.header
    last_line = (context.line_before + beginning).rsplit("\n", 1)[-1].rstrip()
    return header is not None and re.search(header, last_line) is not None
