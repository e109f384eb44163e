"""A canvas: what the engine gets to see of a file round one hole.

Comes in: a text, its hole, a budget in tokens; goes out: the fields of a fill. Line ends are LF
from here to the cleaning, whatever the file has; a byte order mark is not shown.
"""

from dataclasses import dataclass

from intarsia.infill.canvas.stop_rules import max_open, min_indent, stop_texts
from intarsia.infill.canvas.window import prefix_start, suffix_end
from intarsia.infill.holes.hole import Hole, HoleKind
from intarsia.infill.languages import Language
from intarsia.infill.syntax.lines import BYTE_ORDER_MARK, with_plain_newlines
from intarsia.infill.syntax.parse import parse

LINE_TOKENS = 48
STATEMENT_TOKENS = 96
"""For a line that may go on over others until its brackets are closed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """How many tokens, estimated, may stand before and after the hole, and how many in it."""

    prefix_tokens: int = 1536
    suffix_tokens: int = 384
    hole_tokens: int = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class Canvas:
    """Prefix + given + (hole) + suffix, trimmed to a budget, and the rules by which the hole ends.

    The fields prefix … max_tokens go to the engine as they are (see engine.ipc.messages.Fill).
    """

    prefix: str
    given: str
    suffix: str
    stop: tuple[str, ...]
    max_open: int | None
    min_indent: int
    max_tokens: int
    kind: HoleKind
    language: str


def build_canvas(text: str, hole: Hole, language: Language, budget: Budget) -> Canvas:
    """Return the canvas of one hole."""
    syntax = parse(text, language)
    num_open = max_open(text, hole, language, syntax)
    first = prefix_start(text, hole.given_start, budget.prefix_tokens, syntax)
    last = suffix_end(text, hole.end, budget.suffix_tokens, syntax)
    return Canvas(
        prefix=_shown(text[first : hole.given_start]),
        given=_shown(text[hole.given_start : hole.start]),
        suffix=_shown(text[hole.end : last]),
        stop=stop_texts(text, hole),
        max_open=num_open,
        min_indent=min_indent(text, hole, language, syntax),
        max_tokens=_max_tokens(hole, num_open, budget),
        kind=hole.kind,
        language=language.id,
    )


def _max_tokens(hole: Hole, num_open: int | None, budget: Budget) -> int:
    if hole.kind != "line":
        return budget.hole_tokens
    return LINE_TOKENS if num_open is None else STATEMENT_TOKENS


def _shown(text: str) -> str:
    return with_plain_newlines(text).removeprefix(BYTE_ORDER_MARK)
