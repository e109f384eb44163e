"""Removes a Markdown fence that a chat model may put around its fill."""

import re

from intarsia.infill.postprocess.context import CleaningContext

_OPENING = re.compile(r"\s*(?:```|~~~)[\w+#-]*\n")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


def drop_code_fence(fill: str, context: CleaningContext) -> str:
    """Drop an opening fence and end the fill at a closing one; not in plain text or a string."""
    if context.language.grammar is None or context.is_in_string:
        return fill
    opening = _OPENING.match(fill)
    inner = fill[opening.end() :] if opening else fill
    closing = _FENCE.search(inner)
    return inner[: closing.start()].rstrip("\n") if closing else inner
