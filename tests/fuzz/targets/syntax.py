"""Texts in every grammar that is shipped: parsed, holes found and planned, and answers cleaned."""

from code_like_text import PIECES
from harness.byte_reader import ByteReader
from harness.target import Target

from intarsia.infill.canvas.canvas import Budget, build_canvas
from intarsia.infill.holes.find_holes import find_holes
from intarsia.infill.holes.hole import Hole, find_hole, hole_for_range
from intarsia.infill.languages import LANGUAGES, PLAIN_TEXT, Language
from intarsia.infill.postprocess import clean
from intarsia.infill.suggestion import Suggestion
from intarsia.infill.syntax.lines import with_plain_newlines
from intarsia.infill.syntax.parse import parse, parse_afresh

ALL = (*LANGUAGES, PLAIN_TEXT)


def check(data: bytes) -> None:
    """Parse a text and the text after an edit; fill a hole in it."""
    reader = ByteReader(data)
    language = reader.pick(ALL)
    text, raw = reader.pieces(PIECES, 60), reader.pieces(PIECES, 8)
    start, end = sorted(min(reader.byte(), len(text)) for _ in range(2))
    parse(text, language)
    parse_afresh(text, language)
    parse(text[:start] + raw + text[end:], language)
    find_holes(text, language, marks=("TODO",))
    hole = find_hole(text, start, language)
    if isinstance(hole, Hole):
        _fill(text, hole, language, raw)
    _fill(text, hole_for_range(text, start, end, language), language, raw)


def _fill(text: str, hole: Hole, language: Language, raw: str) -> None:
    """Plan a hole and clean an answer: only the hole's own text is replaced."""
    canvas = build_canvas(text, hole, language, Budget())
    before = with_plain_newlines(text[: hole.given_start]).removeprefix("\ufeff")
    after = with_plain_newlines(text[hole.end :]).removeprefix("\ufeff")
    assert before.endswith(canvas.prefix)
    assert after.startswith(canvas.suffix)
    result = clean(raw, text, hole, canvas, language)
    if isinstance(result, Suggestion):
        assert (result.start, result.end) == (hole.start, hole.end)


TARGET = Target(
    about="texts in every grammar: parsed, holes planned and filled",
    check=check,
    seeds=[bytes([number]) + bytes(range(number, number + 90)) for number in range(len(ALL))],
    watched=["intarsia.infill"],
    weight=1,
    max_bytes=128,
)
