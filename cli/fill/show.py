"""One filled hole for people: where, before and after, and what it cost."""

from rich.console import Console
from rich.text import Text

from intarsia.cli.before_after import Change, draw_change
from intarsia.cli.displayable import displayable
from intarsia.cli.text_positions import position_of
from intarsia.engine.ipc.messages import Filled
from intarsia.filling.fill_hole import FillOutcome
from intarsia.filling.filling import Filling
from intarsia.filling.replacement import Replacement
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion

_LEXERS = {
    "javascriptreact": "javascript",
    "plaintext": "text",
    "shellscript": "bash",
    "typescriptreact": "typescript",
}
"""Where the colouring has another name for a language."""


def show_filling(
    console: Console, file: str, text: str, filling: Filling, language: Language
) -> None:
    """Print what became of a hole of this file; ``text`` is the file's as it was."""
    where = position_of(text, filling.where[0])
    console.print(Text(f"{displayable(file)}:{where}", style="bold"), soft_wrap=True)
    if filling.refusal is not None:
        console.print(_refusal(filling.refusal), soft_wrap=True)
    if filling.change is not None:
        console.print(_picture(filling.text, filling.change, language), soft_wrap=True)
    if isinstance(filling.outcome, FillOutcome):
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
        f"{filled.steps} {'step' if filled.steps == 1 else 'steps'}",
        f"{ms.total:.0f} ms (queue {ms.queue:.0f}, prefill {ms.prefill:.0f}, "
        f"denoise {ms.denoise:.0f})",
        filled.finish_reason.replace("_", " "),
        displayable(filled.model),
    ]
    return Text(" · ".join(words), style="dim")
