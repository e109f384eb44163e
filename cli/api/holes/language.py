"""Which language a hole is in: the APIs have no field for it, so it is read from what there is.

In this order: our own field, the file's path, a comment that the client puts before the text, a
``#!`` line, the other files that it sends, and the code itself.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from intarsia.cli.api.holes.request import Context
from intarsia.infill.languages import (
    PLAIN_TEXT,
    Language,
    all_languages,
    language_for_id,
    language_for_path,
)

LINES_BEFORE, LINES_AFTER = 120, 60
MAX_LINE_CHARS = 200
MIN_LINES = 2
"""Fewer typical lines are no evidence."""
MIN_LEAD = 1.5
"""The best language has this many times the lines of the next one."""


def guess_language(prefix: str, suffix: str) -> Language:
    """Return the language of the code on both sides, else plain text.

    The line with the hole does not count, so that typing in it gives the same answer, from a cache.
    """
    before = prefix.splitlines()[:-1][-LINES_BEFORE:]
    return _guess((*before, *suffix.splitlines()[1 : LINES_AFTER + 1]))


@lru_cache(maxsize=256)
def _guess(around: tuple[str, ...]) -> Language:
    lines = [line[:MAX_LINE_CHARS].rstrip() for line in around if line.strip()]
    counts = {one: _count(one.typical, lines) for one in all_languages() if one.typical}
    dialects = {language_for_id(one.dialect_of): one for one in counts if one.dialect_of}
    num_typed = {base: counts.pop(dialect) for base, dialect in dialects.items()}
    for base, num in num_typed.items():
        counts[base] += num
    (best, most), (_, next_most) = sorted(counts.items(), key=lambda pair: -pair[1])[:2]
    if most < MIN_LINES or most < next_most * MIN_LEAD:
        return PLAIN_TEXT
    return dialects[best] if num_typed.get(best, 0) >= MIN_LINES else best


def _count(pattern: str, lines: Sequence[str]) -> int:
    return sum(map(bool, map(re.compile(pattern).search, lines)))


_HEAD_LINES = 60
"""Clients describe the file within these first lines."""

_NAMED = re.compile(r"^\W{0,8}[Ll]anguage: (?:[\w+# ]+\()?([\w+#]+)\)?")  # minuet and twinny
_PROGRAM = re.compile(r"(?<![\w-])[a-z]+(?=[\d.]*(?:\s|$))")
_FILE_URI = re.compile(r"^\W{0,8}File uri: (\S+)")  # twinny
_COMMENTED_PATH = re.compile(r"^(?:#|//|--|;|%|<!--)\s*(?:[Pp]ath: )?([\w./\\-]+\.\w+)\s*(?:-->)?$")


def language_of(context: Context, language_id: str | None) -> Language:
    """Return the language, else plain text: then a hole is one line."""
    found = language_for_id(language_id) if language_id else PLAIN_TEXT
    if found is PLAIN_TEXT and context.path:
        found = language_for_path(context.path)
    if found is PLAIN_TEXT:
        found = _described(context.prefix.split("\n", _HEAD_LINES)[:_HEAD_LINES])
    if found is PLAIN_TEXT:  # that of the file that was sent last: clients append to their list
        others = (language_for_path(file.path) for file in reversed(context.files) if file.path)
        found = next((one for one in others if one is not PLAIN_TEXT), PLAIN_TEXT)
    if found is PLAIN_TEXT:
        found = guess_language(context.prefix, context.suffix)
    return found


def _described(lines: Sequence[str]) -> Language:
    """Return the language that the first lines tell; the last such line is the nearest."""
    programs = _PROGRAM.findall(lines[0]) if lines and lines[0].startswith("#!") else []
    found = next((it for it in map(language_for_id, programs) if it is not PLAIN_TEXT), PLAIN_TEXT)
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
