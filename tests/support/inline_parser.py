"""A parser in this process: no process is started, and what is parsed can be counted."""

from collections.abc import Callable

from intarsia.workspace.index.parser_process import Parsed, Parser
from intarsia.workspace.index.root_index import ParseJob
from intarsia.workspace.symbols.extract import extract_symbols


class InlineParser(Parser):
    """Answers at once. ``texts`` are all that any inline parser has got in this test."""

    def __init__(self, on_parsed: Callable[[Parsed], None], texts: list[str]) -> None:
        self._on_parsed = on_parsed
        self._texts = texts

    def send(self, job: ParseJob) -> None:
        self._texts.append(job.text)
        self._on_parsed(Parsed(job=job, symbols=extract_symbols(job.text, job.language)))

    def close(self) -> None:
        return
