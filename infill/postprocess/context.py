"""What a filter may look at: the file around the hole, built once per fill and never changed."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from intarsia.infill.canvas.canvas import Canvas
from intarsia.infill.holes.hole import Hole
from intarsia.infill.languages import Language
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.lines import (
    BYTE_ORDER_MARK,
    line_end,
    line_start,
    next_line_start,
    with_plain_newlines,
)
from intarsia.infill.syntax.nodes import is_inside_string
from intarsia.infill.syntax.parse import Syntax, parse

MAX_CHARS_AROUND = 4_000
"""Filters look no further than this from the hole."""

PARSING_S = 0.25
PARSING_S_PER_MEGABYTE = 1.0
"""All parses of one fill together. Of good code they take a tenth of this."""


class ParsingTime:
    """What is left of the time for parsing the file with one fill, in seconds of this thread."""

    def __init__(self, left_s: float) -> None:
        self._left_s = left_s

    @property
    def is_over(self) -> bool:
        return self._left_s <= 0

    @contextmanager
    def spent(self) -> Iterator[None]:
        """Count the time that the block takes."""
        started = time.thread_time()
        try:
            yield
        finally:
            self._left_s -= time.thread_time() - started


@dataclass(frozen=True, kw_only=True, slots=True)
class CleaningContext:
    """A hole in its file. All texts but ``text`` have LF line ends."""

    text: str  # the whole file, with its own line ends; of a document, the code around the hole
    hole: Hole
    canvas: Canvas
    language: Language
    syntax: Syntax | None
    before: str  # the text before the hole, as far as filters look
    line_before: str  # the hole's own line up to the hole
    rest: str  # the rest of the line on which the hole ends, as far as filters look
    following: tuple[str, ...]  # the non-blank lines after that one
    is_in_string: bool
    parsing_time: ParsingTime = field(compare=False, repr=False)


def cleaning_context(text: str, hole: Hole, canvas: Canvas, language: Language) -> CleaningContext:
    """Return the context of a hole. In a Markdown fence only its code is looked at."""
    code = code_at(text, hole.start, hole.end, language)
    text, language = code.text, code.language
    syntax = parse(text, language)
    before = text[max(0, hole.start - MAX_CHARS_AROUND) : hole.start]
    next_start = next_line_start(text, hole.end)
    after = with_plain_newlines(text[next_start : next_start + MAX_CHARS_AROUND])
    return CleaningContext(
        text=text,
        hole=hole,
        canvas=canvas,
        language=language,
        syntax=syntax,
        before=with_plain_newlines(before),
        line_before=text[line_start(text, hole.start) : hole.start].removeprefix(BYTE_ORDER_MARK),
        rest=text[hole.end : min(line_end(text, hole.end), hole.end + MAX_CHARS_AROUND)],
        following=tuple(line for line in after.split("\n") if line.strip()),
        is_in_string=is_inside_string(syntax, hole.start),
        parsing_time=ParsingTime(PARSING_S + PARSING_S_PER_MEGABYTE * len(text) / 1e6),
    )
