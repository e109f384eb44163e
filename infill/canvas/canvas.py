"""A canvas: the part of a file around one hole that the engine is shown, and the hole's limits.

A canvas has LF line ends, whatever the file has, and no byte order mark. Post-processing puts the
file's line ends back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.canvas.stop_rules import max_open, min_indent, stop_texts
from intarsia.infill.canvas.window import Window, prefix_start, suffix_end, window_of
from intarsia.infill.holes.hole import Hole, HoleKind
from intarsia.infill.languages import Language
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.lines import BYTE_ORDER_MARK, with_plain_newlines
from intarsia.infill.syntax.parse import parse

LINE_TOKENS = 48
STATEMENT_TOKENS = 96
"""For a line that may continue on the next ones until its brackets are closed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """The most tokens before, after and in the hole. Those around it are estimated."""

    prefix_tokens: int = 1536
    suffix_tokens: int = 384
    hole_tokens: int = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class Canvas:
    """Prefix + given + (hole) + suffix, trimmed to a budget, and the rules that end the hole.

    The fields from ``prefix`` to ``max_tokens`` are those of the engine's ``Fill`` message.
    """

    prefix: str
    given: str  # typed already; the fill begins with it
    suffix: str
    stop: tuple[str, ...]  # each of these texts ends the hole
    max_open: int | None  # a line ends once no more brackets than this are open
    min_indent: int  # a later line that is indented by fewer columns ends the hole
    max_tokens: int
    kind: HoleKind
    language: str
    window: Window  # what it shows of the text


def build_canvas(
    text: str, hole: Hole, language: Language, budget: Budget, earlier: Sequence[Window] = ()
) -> Canvas:
    """Return the canvas of one hole.

    ``earlier`` are windows of the same text or an older version of it, the newest first: the
    canvas keeps their edges where it can. The rules that end the hole are those of the code that it
    is in; what is shown around it is the document, also around a fence of Markdown.
    """
    syntax = parse(text, language)
    code = code_at(text, hole.start, hole.end, language)
    code_syntax = parse(code.text, code.language)
    num_open = max_open(code.text, hole, code.language, code_syntax)
    first = prefix_start(text, hole.given_start, budget.prefix_tokens, syntax, earlier)
    last = suffix_end(text, hole.end, budget.suffix_tokens, syntax, earlier)
    return Canvas(
        prefix=_shown(text[first : hole.given_start]),
        given=_shown(text[hole.given_start : hole.start]),
        suffix=_shown(text[hole.end : last]),
        stop=stop_texts(code.text, hole, code.closing_line),
        max_open=num_open,
        min_indent=min_indent(code.text, hole, code.language, code_syntax),
        max_tokens=_max_tokens(hole, num_open, budget),
        kind=hole.kind,
        language=code.language.id,
        window=window_of(text, first, hole.given_start, text[hole.end : last]),
    )


def _max_tokens(hole: Hole, num_open: int | None, budget: Budget) -> int:
    if hole.kind != "line":
        return budget.hole_tokens
    return LINE_TOKENS if num_open is None else STATEMENT_TOKENS


def _shown(text: str) -> str:
    return with_plain_newlines(text).removeprefix(BYTE_ORDER_MARK)
