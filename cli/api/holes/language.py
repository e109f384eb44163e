"""Which language a hole is in: the APIs have no field for it, so it is read from what there is.

In this order: our own field, the file's path, a comment that the client puts before the text, a
``#!`` line, the other files that it sends, and the code itself.
"""

import re
from collections.abc import Sequence

from intarsia.cli.api.holes.guess import guess_language
from intarsia.cli.api.holes.request import Context
from intarsia.infill.languages import (
    PLAIN_TEXT,
    Language,
    language_for_id,
    language_for_path,
)

_HEAD_LINES = 60
"""Within these first lines clients describe the file."""

_NAMED = re.compile(r"^\W{0,8}[Ll]anguage: (?:[\w+# ]+\()?([\w+#]+)\)?")  # minuet and twinny
_FILE_URI = re.compile(r"^\W{0,8}File uri: (\S+)")  # twinny
_COMMENTED_PATH = re.compile(r"^(?:#|//|--|;|%|<!--)\s*(?:[Pp]ath: )?([\w./\\-]+\.\w+)\s*(?:-->)?$")
_INTERPRETER = re.compile(r"^#!.*?\b(python|bash|zsh|ksh|sh|node|ruby|php|lua|elixir)[\d.]*\b")
_BY_INTERPRETER = {"node": "javascript"}


def language_of(context: Context, language_id: str | None) -> Language:
    """Return the language, else plain text: then a hole is one line."""
    found = language_for_id(language_id) if language_id else PLAIN_TEXT
    if found is PLAIN_TEXT and context.path:
        found = language_for_path(context.path)
    if found is PLAIN_TEXT:
        found = _described(context.prefix.split("\n", _HEAD_LINES)[:_HEAD_LINES])
    if found is PLAIN_TEXT:
        found = _of_newest_file(context)
    if found is PLAIN_TEXT:
        found = guess_language(context.prefix, context.suffix)
    return found


def _described(lines: Sequence[str]) -> Language:
    """Return the language that the first lines tell; the last such line is the nearest."""
    interpreter = _INTERPRETER.match(lines[0]) if lines else None
    found = PLAIN_TEXT
    if interpreter is not None:
        found = language_for_id(_BY_INTERPRETER.get(interpreter[1], interpreter[1]))
    for line in lines:
        named, path = _NAMED.match(line), _FILE_URI.match(line) or _COMMENTED_PATH.match(line)
        if named is not None:
            told = language_for_id(named[1])
        elif path is not None:
            told = language_for_path(path[1])
        else:
            continue
        found = told if told is not PLAIN_TEXT else found
    return found


def _of_newest_file(context: Context) -> Language:
    """Return the language of the other file that was sent last: clients append to their list."""
    languages = (language_for_path(file.path) for file in reversed(context.files) if file.path)
    return next((one for one in languages if one is not PLAIN_TEXT), PLAIN_TEXT)
