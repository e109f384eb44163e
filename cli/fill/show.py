"""Print one filled hole for people: its position, the lines before and after, and the cost."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
from rich.console import Console
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from intarsia.cli.fill.positions import Range, position_of, range_of
from intarsia.engine.ipc.messages import Filled, Timing
from intarsia.engine.ipc.printable import displayable
from intarsia.infill.filling.judged import probability_of, prose_of
from intarsia.infill.filling.outcome import Cursor, FilledPlace, FillResult
from intarsia.infill.languages import Language
from intarsia.infill.replacement import Replacement
from intarsia.infill.suggestion import NoSuggestion

_NUM_CONTEXT_LINES = 3
_MAX_COLUMNS = 100
"""Characters of a long line that are shown on either side of the hole."""
_MAX_OLD_LINES = 20
_MAX_CONTEXT_CHARS = 20_000
"""Characters around the hole that are read, however large the file."""

_HOLE_MARK = "░░░"
_HOLE = Style(color="yellow", underline=False)
_CUT = Style(color="red", strike=True, underline=False)
_FILL = Style(color="black", bgcolor="green")
_SIGNS = {"-": Style(color="red"), "+": Style(color="green"), " ": Style()}


def show_filling(
    console: Console, file: str, text: str, filling: FilledPlace, language: Language
) -> None:
    """Print the result for one hole of this file; ``text`` is the file's original text."""
    where = position_of(text, filling.where[0])
    console.print(Text(f"{displayable(file)}:{where}", style="bold"), soft_wrap=True)
    if filling.refusal is not None:
        refusal = f"no suggestion: {filling.refusal.reason}"
        console.print(Text(refusal, style="yellow"), soft_wrap=True)
    if filling.change is not None:
        console.print(draw_change(filling.text, filling.change, language), soft_wrap=True)
    if isinstance(filling.outcome, FillResult):
        console.print(_cost(filling.outcome.filled), soft_wrap=True)
        if caution := filling.outcome.filled.caution:
            console.print(Text(displayable(caution), style="yellow"), soft_wrap=True)


def _cost(filled: Filled) -> Text:
    ms = filled.ms
    parts = [
        f"{filled.num_forwards} forward {'pass' if filled.num_forwards == 1 else 'passes'}",
        f"{ms.total:.0f} ms (queue {ms.queue:.0f}, prefill {ms.prefill:.0f}, "
        f"denoise {ms.denoise:.0f})",
        filled.finish_reason.replace("_", " "),
        displayable(filled.model),
        *([f"{filled.num_project} tokens from other files"] if filled.num_project else []),
    ]
    return Text(" · ".join(parts), style="dim")


def draw_change(text: str, change: Replacement, language: Language) -> Text:
    """Return the lines around the hole: with the hole (``-``), and with the fill (``+``)."""
    around, lexer = _surroundings(text, change), language.lexer or language.id
    num_above, num_below = len(around.above), len(around.below)
    line = position_of(text, change.start).line
    old = _paint(lexer, around, *_old(text, change))
    new = _paint(lexer, around, displayable(change.new), _FILL)
    first_below = len(new) - num_below
    return Text("\n").join(
        [
            *_numbered(" ", line - num_above, new[:num_above]),
            *_numbered("-", line, old[num_above : len(old) - num_below]),
            *_numbered("+", line, new[num_above:first_below]),
            *_numbered(" ", line + first_below - num_above, new[first_below:]),
        ]
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Surroundings:
    """The text shown around a hole: ``lead`` and ``rest`` are on its own line."""

    above: Sequence[str]
    lead: str
    rest: str
    below: Sequence[str]


def _surroundings(text: str, change: Replacement) -> _Surroundings:
    before = text[max(0, change.start - _MAX_CONTEXT_CHARS) : change.start]
    after = text[change.end : change.end + _MAX_CONTEXT_CHARS]
    *above, lead = displayable(before).split("\n")[-_NUM_CONTEXT_LINES - 1 :]
    rest, *below = displayable(after).split("\n")[: _NUM_CONTEXT_LINES + 1]
    return _Surroundings(
        above=[_clip(line) for line in above],
        lead=lead if len(lead) <= _MAX_COLUMNS else "…" + lead[-_MAX_COLUMNS:],
        rest=_clip(rest),
        below=[_clip(line) for line in below],
    )


def _old(text: str, change: Replacement) -> tuple[str, Style]:
    if change.start == change.end:
        return _HOLE_MARK, _HOLE
    lines = displayable(text[change.start : change.end]).split("\n")
    left_out = ["…"] if len(lines) > _MAX_OLD_LINES else []
    return "\n".join([*map(_clip, lines[:_MAX_OLD_LINES]), *left_out]), _CUT


def _clip(line: str) -> str:
    return line if len(line) <= _MAX_COLUMNS else line[:_MAX_COLUMNS] + "…"


def _paint(lexer: str, around: _Surroundings, middle: str, style: Style) -> list[Text]:
    """Return the coloured lines, with the middle in its own style."""
    before = "\n".join([*around.above, around.lead])
    code = before + middle + "\n".join([around.rest, *around.below])
    painted = Syntax("", lexer, theme="ansi_dark").highlight(code)[: len(code)]
    painted.style = ""
    for match in re.finditer(r"\S.*", middle):
        painted.stylize(style, len(before) + match.start(), len(before) + match.end())
    return list(painted.split("\n", allow_blank=True))


def _numbered(sign: str, first: int, lines: Sequence[Text]) -> Iterable[Text]:
    for number, line in enumerate(lines, first):
        gutter = Text(f"{sign} {number:>5} │ ", style=_SIGNS[sign] + Style(dim=sign == " "))
        yield Text.assemble(gutter, line)


class FillReport(msgspec.Struct, frozen=True, kw_only=True):
    """``text`` replaces ``range`` of the original file; ``reason`` says why there is no text."""

    file: str
    text: str | None = None
    reason: str | None = None
    range: Range | None = None
    kind: str | None = None
    num_forwards: int | None = None
    ms: Timing | None = None
    mean_entropy: float | None = None
    finish_reason: str | None = None
    model: str | None = None
    num_prefilled: int | None = None
    num_reused: int | None = None
    num_project: int | None = None  # tokens from other files
    caution: str | None = None  # what was measured of a model that often edits wrongly
    probability: float | None = None  # that a user keeps the text, of a fill at a cursor


def report_filling(file: str, text: str, filling: FilledPlace) -> FillReport:
    """Return the report of one hole; ``text`` is the original text of the file."""
    where = range_of(text, *filling.where)
    match filling.outcome:
        case NoSuggestion(reason=reason):
            return FillReport(file=file, reason=reason, range=where)
        case FillResult(hole=hole, suggestion=found, filled=filled):
            return FillReport(
                file=file,
                text=filling.change.new if filling.change else None,
                reason=found.reason if isinstance(found, NoSuggestion) else None,
                range=where,
                kind=hole.kind,
                num_forwards=filled.num_forwards,
                ms=filled.ms,
                mean_entropy=filled.mean_entropy,
                finish_reason=filled.finish_reason,
                model=filled.model,
                num_prefilled=filled.num_prefilled,
                num_reused=filled.num_reused,
                num_project=filled.num_project,
                caution=filled.caution or None,
                probability=None
                if isinstance(found, NoSuggestion) or not isinstance(filling.place, Cursor)
                else probability_of(filled, found, prose_of(hole)),
            )


def to_json(report: FillReport) -> str:
    return msgspec.json.encode(report).decode()
