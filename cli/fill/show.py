"""One filled hole for people: where, before and after, and what it cost."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from intarsia.cli.fill.positions import position_of
from intarsia.cli.terminal import displayable
from intarsia.engine.ipc.messages import Filled
from intarsia.infill.filling.fill_one import FillResult
from intarsia.infill.filling.outcome import FilledPlace
from intarsia.infill.filling.replacement import Replacement
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion

_NUM_CONTEXT_LINES = 3
_MAX_COLUMNS = 100
"""Of a long line, so much is shown on either side of the hole."""
_MAX_OLD_LINES = 20
_MAX_LOOK = 20_000
"""Characters round the hole that are looked at, however large the file."""

_HOLE_MARK = "░░░"
_HOLE = Style(color="yellow", underline=False)
_CUT = Style(color="red", strike=True, underline=False)
_FILL = Style(color="black", bgcolor="green")
_SIGNS = {"-": Style(color="red"), "+": Style(color="green"), " ": Style()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """``text[start:end]`` becomes ``fill``; ``lexer`` names the language for the colours."""

    text: str
    start: int
    end: int
    fill: str
    lexer: str


def draw_change(change: Change) -> Text:
    """Return the lines round the hole: with the hole (``-``), and with the fill (``+``)."""
    above, lead = _lead(change.text[max(0, change.start - _MAX_LOOK) : change.start])
    rest, below = _rest(change.text[change.end : change.end + _MAX_LOOK])
    line = position_of(change.text, change.start).line
    old, old_style = _old(change)
    was = _paint(change.lexer, above, lead, old, rest, below, old_style)
    now = _paint(change.lexer, above, lead, displayable(change.fill), rest, below, _FILL)
    first_below = len(now) - len(below)
    return Text("\n").join(
        [
            *_numbered(" ", line - len(above), now[: len(above)]),
            *_numbered("-", line, was[len(above) : len(was) - len(below)]),
            *_numbered("+", line, now[len(above) : first_below]),
            *_numbered(" ", line + first_below - len(above), now[first_below:]),
        ]
    )


def _lead(text: str) -> tuple[list[str], str]:
    """Return the lines above the hole, and what stands before it on its own line."""
    *above, lead = displayable(text).split("\n")[-_NUM_CONTEXT_LINES - 1 :]
    clipped = lead if len(lead) <= _MAX_COLUMNS else "…" + lead[-_MAX_COLUMNS:]
    return [_clip(line) for line in above], clipped


def _rest(text: str) -> tuple[str, list[str]]:
    """Return what stands after the hole on its own line, and the lines below."""
    rest, *below = displayable(text).split("\n")[: _NUM_CONTEXT_LINES + 1]
    return _clip(rest), [_clip(line) for line in below]


def _old(change: Change) -> tuple[str, Style]:
    if change.start == change.end:
        return _HOLE_MARK, _HOLE
    lines = displayable(change.text[change.start : change.end]).split("\n")
    left_out = ["…"] if len(lines) > _MAX_OLD_LINES else []
    return "\n".join([*map(_clip, lines[:_MAX_OLD_LINES]), *left_out]), _CUT


def _clip(line: str) -> str:
    return line if len(line) <= _MAX_COLUMNS else line[:_MAX_COLUMNS] + "…"


def _paint(
    lexer: str,
    above: Sequence[str],
    lead: str,
    middle: str,
    rest: str,
    below: Sequence[str],
    style: Style,
) -> list[Text]:
    """Return the coloured lines, with the middle in its own style."""
    before = "\n".join([*above, lead])
    code = before + middle + "\n".join([rest, *below])
    painted = Syntax("", lexer, theme="ansi_dark").highlight(code)[: len(code)]
    painted.style = ""
    for words in re.finditer(r"\S.*", middle):
        painted.stylize(style, len(before) + words.start(), len(before) + words.end())
    return list(painted.split("\n", allow_blank=True))


def _numbered(sign: str, first: int, lines: Sequence[Text]) -> Iterable[Text]:
    for number, line in enumerate(lines, first):
        gutter = Text(f"{sign} {number:>5} │ ", style=_SIGNS[sign] + Style(dim=sign == " "))
        yield Text.assemble(gutter, line)


_LEXERS = {
    "javascriptreact": "javascript",
    "plaintext": "text",
    "shellscript": "bash",
    "typescriptreact": "typescript",
}
"""Where the colouring has another name for a language."""


def show_filling(
    console: Console, file: str, text: str, filling: FilledPlace, language: Language
) -> None:
    """Print what became of a hole of this file; ``text`` is the file's as it was."""
    where = position_of(text, filling.where[0])
    console.print(Text(f"{displayable(file)}:{where}", style="bold"), soft_wrap=True)
    if filling.refusal is not None:
        console.print(_refusal(filling.refusal), soft_wrap=True)
    if filling.change is not None:
        console.print(_picture(filling.text, filling.change, language), soft_wrap=True)
    if isinstance(filling.outcome, FillResult):
        console.print(_cost(filling.outcome.filled), soft_wrap=True)


def _picture(text: str, change: Replacement, language: Language) -> Text:
    lexer = _LEXERS.get(language.id, language.id)
    return draw_change(
        Change(text=text, start=change.start, end=change.end, fill=change.new, lexer=lexer)
    )


def _refusal(refusal: NoSuggestion) -> Text:
    return Text(f"no suggestion: {refusal.reason}", style="yellow")


def _cost(filled: Filled) -> Text:
    ms = filled.ms
    words = [
        f"{filled.num_forwards} {'step' if filled.num_forwards == 1 else 'steps'}",
        f"{ms.total:.0f} ms (queue {ms.queue:.0f}, prefill {ms.prefill:.0f}, "
        f"denoise {ms.denoise:.0f})",
        filled.finish_reason.replace("_", " "),
        displayable(filled.model),
    ]
    return Text(" · ".join(words), style="dim")
