"""Turns many byte offsets of one text into string indices, each in no time.

Comes in: a text; goes out: a table. ``Syntax.offset_at`` is for a few: it reads the text each time.
"""

import re
from collections.abc import Sequence

_RUN = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")


def offsets_of_bytes(text: str) -> Sequence[int]:
    """Return for each byte of the text in UTF-8, and for its end, where its character stands."""
    if text.isascii():
        return range(len(text) + 1)
    offsets: list[int] = []
    for run in _RUN.finditer(text):
        if run.group().isascii():
            offsets.extend(range(run.start(), run.end()))
        else:
            offsets += [run.start()] * len(run.group().encode("utf-8", "replace"))
    return [*offsets, len(text)]
