"""Ends a fill at a character that is not seen: an escape of terminals, a direction mark, no width.

x = ├'a⟨U+202E⟩b'┤   →   x = ├'a┤
"""

from intarsia.infill.postprocess.context import CleaningContext
from intarsia.infill.syntax.hidden_characters import first_hidden


def cut_at_hidden_character(fill: str, context: CleaningContext) -> str:
    """Cut at the first hidden character that the file does not have yet."""
    return fill[: first_hidden(fill, context.text)]
