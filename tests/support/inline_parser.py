"""A parser in this process: no process is started, and what is parsed can be counted."""

from collections.abc import Callable

from intarsia.infill.languages import language_for_id
from intarsia.workspace.index.parse_worker import ParseText, TextParsed
from intarsia.workspace.index.parsed_file import parse_text
from intarsia.workspace.index.parser_process import ParserEvent, ParserProcess


class InlineParser(ParserProcess):
    """Answers at once. ``texts`` are all that any inline parser has got in this test."""

    def __init__(self, on_event: Callable[[ParserEvent], None], texts: list[str]) -> None:
        self._on_event = on_event
        self._texts = texts

    def send(self, request: ParseText) -> None:
        self._texts.append(request.text)
        parsed = parse_text(request.text, language_for_id(request.language_id))
        self._on_event(TextParsed(number=request.number, parsed=parsed))

    def kill(self) -> None:
        return

    def close(self) -> None:
        return
