"""Ends a fill at the first special token of a model, such as ``<|endoftext|>``."""

import re

from intarsia.infill.postprocess.context import CleaningContext

_SPECIAL = re.compile(
    r"<\|[A-Za-z0-9_]{1,40}\|>|<｜[^｜\n]{1,40}｜>|<fim_(?:prefix|suffix|middle|pad)>|<EOT>|\0"
)
_CUT_CHARACTER = "\ufffd"


def drop_special_tokens(fill: str, context: CleaningContext) -> str:
    """Cut at end-of-text, FIM and mask tokens, and drop an incomplete character at the end."""
    mark = _SPECIAL.search(fill)
    return (fill[: mark.start()] if mark else fill).rstrip(_CUT_CHARACTER)
