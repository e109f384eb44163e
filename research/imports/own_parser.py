"""Parses in this process: a measurement has the machine to itself, and no editor to wait for."""

from collections.abc import Callable

from intarsia.infill.languages import language_for_id
from intarsia.workspace.index.parse_worker import ParseText, TextParsed
from intarsia.workspace.index.parser_process import ParserEvent, ParserProcess
from intarsia.workspace.symbols.extract import extract_symbols


class OwnParser(ParserProcess):
    """Answers at once; starts no process."""

    def __init__(self, on_event: Callable[[ParserEvent], None]) -> None:
        self._on_event = on_event

    def send(self, request: ParseText) -> None:
        symbols = extract_symbols(request.text, language_for_id(request.language_id))
        self._on_event(TextParsed(number=request.number, symbols=symbols))

    def kill(self) -> None:
        return

    def close(self) -> None:
        return
