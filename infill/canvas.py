"""A canvas: what the engine gets to see of a file round one hole.

Comes in: a text, its hole, a budget in tokens; goes out: the fields of a fill. Line ends are LF
from here to the cleaning, whatever the file has; a byte order mark is not shown.
"""

from dataclasses import dataclass

from intarsia.infill.ending import min_indent, stop_texts
from intarsia.infill.hole import Hole, HoleKind
from intarsia.infill.languages import Language
from intarsia.infill.lines import BYTE_ORDER_MARK, with_plain_newlines
from intarsia.infill.syntax import parse
from intarsia.infill.window import prefix_start, suffix_end

LINE_TOKENS = 48


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
    min_indent: int
    max_tokens: int
    kind: HoleKind
    language: str


def build_canvas(text: str, hole: Hole, language: Language, budget: Budget) -> Canvas:
    """Return the canvas of one hole."""
    syntax = parse(text, language)
    first = prefix_start(text, hole.given_start, budget.prefix_tokens, syntax)
    last = suffix_end(text, hole.end, budget.suffix_tokens, syntax)
    return Canvas(
        prefix=_shown(text[first : hole.given_start]),
        given=_shown(text[hole.given_start : hole.start]),
        suffix=_shown(text[hole.end : last]),
        stop=stop_texts(text, hole, language, syntax),
        min_indent=min_indent(text, hole, language, syntax),
        max_tokens=LINE_TOKENS if hole.kind == "line" else budget.hole_tokens,
        kind=hole.kind,
        language=language.id,
    )


def _shown(text: str) -> str:
    return with_plain_newlines(text).removeprefix(BYTE_ORDER_MARK)
