"""Reads JSON as editors do: with comments and commas too many."""

import json
import re
from collections.abc import Mapping

_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)


def read_object(text: str | None) -> Mapping[str, object]:
    """Return the object of a text, empty if there is none or it cannot be read."""
    if text is None:
        return {}
    for unwanted in (_COMMENT, _LAST_COMMA):
        text = unwanted.sub(lambda match: match[1] or "", text)
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def as_object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def as_strings(value: object) -> list[str]:
    """Return the strings of a list, or one string as a list."""
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
