"""JSON as its sender means it: whole numbers that were written as floats, and text without halves.

JavaScript and Lua have one kind of number; half of a UTF-16 pair has no form in UTF-8.
"""

import re
from collections.abc import Mapping

_HALF = re.compile("[\ud800-\udfff]")


def as_meant(value: object) -> object:
    """Return JSON's values with 75.0 as 75, and with replacement characters for halves."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return value if value.isascii() else _HALF.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [as_meant(item) for item in value]
    if isinstance(value, Mapping):
        return {key: as_meant(item) for key, item in value.items()}
    return value
