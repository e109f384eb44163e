"""Print offers for people: each with its place, the lines before and after it, and its gain."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.style import Style
from rich.text import Text

from intarsia.cli.fill.positions import position_of
from intarsia.cli.fill.source_file import SourceFile
from intarsia.cli.terminal import displayable
from intarsia.infill.next_edit.find import NextEditResult
from intarsia.infill.next_edit.offer import NextEditOffer
from intarsia.infill.next_edit.settled_edit import plain_lines

_NUM_CONTEXT_LINES = 3
_MAX_COLUMNS = 100
_STYLES = {"-": Style(color="red"), "+": Style(color="green"), " ": Style(dim=True)}


def show_result(console: Console, source: SourceFile, result: NextEditResult) -> None:
    """Print each offer as a small difference, or why there is none."""
    if not result.offers:
        console.print(Text(f"no next edit: {result.reason}", style="yellow"), soft_wrap=True)
    for offer in result.offers:
        where = position_of(source.text, offer.start)
        console.print(Text(f"{displayable(source.name)}:{where}", style="bold"), soft_wrap=True)
        for line in _difference(plain_lines(source.text), offer):
            console.print(line, soft_wrap=True)
        numbers = f"{offer.level} · {offer.gain:.1f} nats likelier · {result.ms:.0f} ms"
        console.print(Text(numbers, style="dim"), soft_wrap=True)


def _difference(present: Sequence[str], offer: NextEditOffer) -> Iterator[Text]:
    start, end = offer.lines.start, offer.lines.end
    first = max(0, start - _NUM_CONTEXT_LINES)
    yield from _numbered(" ", first, present[first:start])
    yield from _numbered("-", start, present[start:end])
    yield from _numbered("+", start, offer.new_lines)
    after = start + len(offer.new_lines)
    yield from _numbered(" ", after, present[end : end + _NUM_CONTEXT_LINES])


def _numbered(sign: str, first: int, lines: Sequence[str]) -> Iterator[Text]:
    """Yield the lines with their sign and number, which is shown from 1."""
    for number, line in enumerate(lines, first + 1):
        shown = displayable(line.removesuffix("\n"))
        cut = shown if len(shown) <= _MAX_COLUMNS else shown[:_MAX_COLUMNS] + "…"
        yield Text(f"{sign} {number:>5} │ {cut}", style=_STYLES[sign])
