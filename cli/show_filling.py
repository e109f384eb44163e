"""One filled hole for people: where, before and after, and what it cost."""

from rich.console import Console
from rich.text import Text

from intarsia.cli.before_after import Change, draw_change
from intarsia.cli.displayable import displayable
from intarsia.cli.fill_hole import FillOutcome
from intarsia.cli.fill_holes import Filling
from intarsia.engine.ipc.messages import Filled
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion, Suggestion

_LEXERS = {
    "javascriptreact": "javascript",
    "plaintext": "text",
    "shellscript": "bash",
    "typescriptreact": "typescript",
}
"""Where the colouring has another name for a language."""


def show_filling(console: Console, file: str, filling: Filling, language: Language) -> None:
    """Print what became of a hole of this file."""
    console.print(Text(f"{displayable(file)}:{filling.where.start}", style="bold"), soft_wrap=True)
    match filling.outcome:
        case NoSuggestion() as refusal:
            console.print(_refusal(refusal), soft_wrap=True)
        case FillOutcome(found=NoSuggestion() as refusal, filled=filled):
            console.print(_refusal(refusal), soft_wrap=True)
            console.print(_cost(filled), soft_wrap=True)
        case FillOutcome(text=text, found=Suggestion() as found, filled=filled):
            console.print(_picture(text, found, language), soft_wrap=True)
            console.print(_cost(filled), soft_wrap=True)


def _picture(text: str, found: Suggestion, language: Language) -> Text:
    lexer = _LEXERS.get(language.id, language.id)
    change = Change(text=text, start=found.start, end=found.end, fill=found.text, lexer=lexer)
    return draw_change(change)


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
