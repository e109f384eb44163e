"""A user's editor with several files open, each with a cursor, on a real language server."""

import time
from dataclasses import dataclass
from typing import Any

from intarsia_research.benchmark.editor.foreign_files import Cut
from intarsia_research.evaluation.server_process import ServerProcess
from intarsia_research.evaluation.systems.language_server import position_of

_AUTOMATIC = 2  # LSP's InlineCompletionTriggerKind
_ENDS_BLOCK = ("return", "raise", "pass", "break", "continue")


@dataclass(kw_only=True, slots=True)
class OpenFile:
    """One open file as the server has it too."""

    uri: str
    text: str
    cursor: int
    version: int = 0

    @property
    def line(self) -> int:
        """The number of the cursor's line."""
        return self.text.count("\n", 0, self.cursor)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What the user sees after a request, and the milliseconds until then."""

    text: str  # empty: no suggestion
    ms: float


class EditingClient:
    """Opens files, edits them and asks for suggestions as editors do."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server

    def open(self, uri: str, text: str, cut: Cut) -> OpenFile:
        """Open a Python file in which the cut text is not written yet."""
        text = text[: cut.start] + text[cut.end :]
        opened = {"uri": uri, "languageId": "python", "version": 0, "text": text}
        self._server.notify("textDocument/didOpen", {"textDocument": opened})
        return OpenFile(uri=uri, text=text, cursor=cut.start)

    def insert(self, file: OpenFile, text: str) -> None:
        """Insert a text at the cursor, and move the cursor to its end."""
        self._replace(file, file.cursor, file.cursor, text)

    def cut(self, file: OpenFile, cut: Cut) -> None:
        """Delete the rest of a line; the cursor goes there."""
        self._replace(file, cut.start, cut.end, "")

    def press_enter(self, file: OpenFile) -> None:
        """Go to the end of the line and begin the next one, indented as editors do."""
        end = file.text.find("\n", file.cursor)
        file.cursor = len(file.text) if end < 0 else end
        self.insert(file, "\n" + _indentation_below(file.text[: file.cursor]))

    async def ask(self, file: OpenFile) -> Shown:
        """Request a suggestion at the cursor."""
        request = {
            "textDocument": {"uri": file.uri},
            "position": position_of(file.text, file.cursor),
            "context": {"triggerKind": _AUTOMATIC},
        }
        started = time.perf_counter()
        result = await self._server.request("textDocument/inlineCompletion", request)
        ms = 1000 * (time.perf_counter() - started)
        self._server.taken()  # nothing reads the notifications
        return Shown(text=_first_text(result), ms=ms)

    def _replace(self, file: OpenFile, start: int, end: int, text: str) -> None:
        where = {
            "start": position_of(file.text, start),
            "end": position_of(file.text, end),
        }
        file.text = file.text[:start] + text + file.text[end:]
        file.cursor = start + len(text)
        file.version += 1
        self._server.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": file.uri, "version": file.version},
                "contentChanges": [{"range": where, "text": text}],
            },
        )


def _first_text(result: Any) -> str:
    items = (result or {}).get("items", [])
    return str(items[0]["insertText"]) if items else ""


def _indentation_below(text: str) -> str:
    """Return how editors indent the line after a line of Python: VS Code's rules."""
    line = text[text.rfind("\n") + 1 :]
    indentation = line[: len(line) - len(line.lstrip())]
    words = line.split()
    if line.rstrip().endswith((":", "(", "[", "{")):
        return indentation + " " * 4
    return indentation[4:] if words and words[0] in _ENDS_BLOCK else indentation
