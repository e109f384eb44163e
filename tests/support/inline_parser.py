"""A parser in this process: no process is started, and what is parsed can be counted."""

from collections.abc import Callable

from intarsia.infill.languages import language_for_id
from intarsia.workspace.index.parser_process import (
    ParserEvent,
    ParserProcess,
    ParseText,
    TextParsed,
)
from intarsia.workspace.symbols.extract import extract_symbols


class InlineParser(ParserProcess):
    """Answers at once. ``texts`` are all that any inline parser has got in this test."""

    def __init__(self, on_event: Callable[[ParserEvent], None], texts: list[str]) -> None:
        self._on_event = on_event
        self._texts = texts

    def send(self, request: ParseText) -> None:
        self._texts.append(request.text)
        symbols = extract_symbols(request.text, language_for_id(request.language_id))
        self._on_event(TextParsed(number=request.number, symbols=symbols))

    def kill(self) -> None:
        return

    def close(self) -> None:
        return
