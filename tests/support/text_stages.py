"""Every stage that works on the text of a file, as a function of one text and a cursor in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scripted_next_edits import correction

from intarsia.cli.api.holes.language import language_of
from intarsia.cli.api.holes.marks import read_prompt
from intarsia.cli.api.holes.request import Context
from intarsia.engine.ipc.printable import displayable
from intarsia.infill.canvas import Budget, build_canvas
from intarsia.infill.filling.judged import align
from intarsia.infill.filling.plan import FillOptions, plan_at_cursor, plan_placeholder
from intarsia.infill.holes.find_holes import find_holes
from intarsia.infill.holes.hole import (
    Hole,
    OpenHole,
    end_and_next_line,
    find_hole,
    hole_for_range,
    open_marked,
)
from intarsia.infill.languages import Language, language_for_id
from intarsia.infill.next_edit.offer import read_offer
from intarsia.infill.next_edit.plan import EditedText, plan_next_edits, plan_reading
from intarsia.infill.next_edit.renaming import rename_between
from intarsia.infill.next_edit.settled_edit import Hunk, settled_edit
from intarsia.infill.postprocess.clean import clean
from intarsia.infill.suggestion import ConfidentToken
from intarsia.infill.syntax.embedded_code import code_at, code_of_language
from intarsia.infill.syntax.text import line_starts
from intarsia.infill.syntax.tree import num_errors, parse
from intarsia.lsp.positions import offset_at, position_at
from intarsia.workspace.context.chunk import Place, in_own_language
from intarsia.workspace.context.neighbourhood import neighbourhood_of
from intarsia.workspace.files.source_text import is_generated_text, is_minified
from intarsia.workspace.index.store import with_passages
from intarsia.workspace.symbols.extract import extract_symbols

FILLS = ("return (x\n" * 9, "(" * 40, '"\\' * 900)
"""What a model may write into the hole."""

MAX_OFFERS = 2
"""Read of one answer."""
MAX_HOLES = 20
"""Of those found in one text, this many are planned."""


@dataclass(frozen=True, slots=True)
class Subject:
    text: str
    language: Language
    cursor: int


def _holes(subject: Subject) -> list[Hole]:
    """Return the holes of a selection, at the cursor, and at both ends of the text."""
    text, cursor, language = subject.text, subject.cursor, subject.language
    start, end = sorted((len(text) // 3, cursor))
    at_cursors = (find_hole(text, it, language) for it in (0, cursor, len(text)))
    selected = hole_for_range(text, start, end, language)
    return [selected, *(it for it in at_cursors if isinstance(it, Hole))]


def _parse(subject: Subject) -> None:
    syntax = parse(subject.text, subject.language)
    if syntax is not None:
        num_errors(syntax)


def _canvas(subject: Subject) -> None:
    for hole in _holes(subject):
        build_canvas(hole, Budget())


def _clean(subject: Subject) -> None:
    hole = hole_for_range(subject.text, subject.cursor, subject.cursor, subject.language)
    canvas = build_canvas(hole, Budget())
    for fill in (*FILLS, subject.text[subject.cursor :]):
        clean(fill, hole, canvas)


def _align(subject: Subject) -> None:
    raw = subject.text[:8_000]
    tokens = [ConfidentToken(raw[at : at + 3], 0.5) for at in range(0, len(raw), 3)]
    align(tokens, raw[::2])


def _placeholders(subject: Subject) -> None:
    holes = find_holes(subject.text, subject.language, marks=("TODO", "..."))
    others = [(hole.start, hole.end) for hole in holes]
    middle = len(holes) // 2
    for place in holes[middle : middle + MAX_HOLES]:
        opened = open_marked(subject.text, place, subject.language)
        if isinstance(opened, OpenHole):
            options = FillOptions()
            plan_placeholder(opened.hole, options, others)


def _embedded_code(subject: Subject) -> None:
    for language in (subject.language, language_for_id("markdown")):
        code_at(subject.text, subject.cursor, subject.cursor, language)
        code_of_language(subject.text, subject.cursor, language)


def _next_edits(subject: Subject) -> None:
    text, cursor, language = subject.text, subject.cursor, subject.language
    before = text[:cursor] + "former" + text[cursor:]
    edit = settled_edit(before, text)
    plan_reading(text, text.count("\n", 0, cursor), language)
    if isinstance(edit, Hunk):
        rename_between(before, text, edit, language)
        edited = EditedText(before=before, after=text, edit=edit, newest=edit.new_range)
        plan = plan_next_edits(edited, language)
        for first_line in sorted(plan.free_lines)[:MAX_OFFERS]:
            read_offer(plan, correction(first_line - plan.first_line, text="x = 1\n"))


def _index(subject: Subject) -> None:
    with_passages(subject.text, extract_symbols(subject.text, subject.language))
    is_generated_text(subject.text)
    is_minified(subject.text)


def _neighbourhood(subject: Subject) -> None:
    place = Place(
        path="/w/a.py",
        text=subject.text,
        language=subject.language,
        offset=subject.cursor,
        window_start=0,
        window_end=len(subject.text),
    )
    neighbourhood_of(in_own_language(place))


def _completions_api(subject: Subject) -> None:
    before, after = subject.text[: subject.cursor], subject.text[subject.cursor :]
    language_of(Context(prefix=before, suffix=after), None)
    language_of(Context(prefix=after, suffix=before), None)
    read_prompt(f"<|repo_name|>{before}<|file_sep|>{after}<|fim_prefix|>{after}<|fim_middle|>")
    read_prompt(subject.text)


def _positions(subject: Subject) -> None:
    starts = line_starts(subject.text)
    for offset in (subject.cursor, len(subject.text)):
        position = position_at(subject.text, starts, offset, "utf-16")
        offset_at(subject.text, starts, position, "utf-16")


STAGES: Mapping[str, Callable[[Subject], object]] = {
    "parse": _parse,
    "hole": _holes,
    "canvas": _canvas,
    "post-processing": _clean,
    "confidences": _align,
    "placeholders": _placeholders,
    "plan": lambda it: plan_at_cursor(it.text, it.cursor, it.language, FillOptions()),
    "embedded code": _embedded_code,
    "next line": lambda it: end_and_next_line(it.text, it.cursor, it.language),
    "next edits": _next_edits,
    "index": _index,
    "neighbourhood": _neighbourhood,
    "completions API": _completions_api,
    "positions": _positions,
    "terminal": lambda it: displayable(it.text),
}
