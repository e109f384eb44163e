"""Sessions of documents and notebooks at the real server, against the client's own texts."""

import json
from typing import Any

from harness.broken_texts import text
from harness.byte_reader import ByteReader
from harness.lsp_session import Session
from harness.target import Target
from harness.text_model import TextModel
from lsprotocol import types
from reference_text import ENCODINGS
from targets.edits import read_change

FILES = ("file:///a.py", "file:///b%20c.ts", "untitled:Untitled-1", "file://[bad/x", "")
LANGUAGES = ("python", "typescript", "markdown", "")
NOTEBOOKS = ("file:///n.ipynb", "file:///m.ipynb")
NUM_CELLS = 4
MAX_STEPS = 24


class Play:
    """One session and its reference. Each step sends a message, and both take it."""

    def __init__(self, reader: ByteReader) -> None:
        self._reader = reader
        encoding = reader.pick(ENCODINGS)
        self._session = Session.lasting(encoding)
        self._model = TextModel(encoding)

    def step(self) -> None:
        """Do one step, and compare everything."""
        steps = (self._open, self._change, self._change, self._change, self._close)
        self._reader.pick(
            (*steps, self._open_notebook, self._change_notebook, self._close_notebook)
        )()
        self._compare()

    def end(self) -> None:
        """Close everything, so that the session can go on with another play."""
        for uri in NOTEBOOKS:
            self._close_all_of(uri)
        for uri in list(self._model.documents):
            self._model.close(uri)
            self._session.notify(types.TEXT_DOCUMENT_DID_CLOSE, {"textDocument": {"uri": uri}})
        self._compare()

    def _item(self, uri: str) -> dict[str, Any]:
        reader = self._reader
        item = {"uri": uri, "languageId": reader.pick(LANGUAGES), "version": reader.byte() % 4}
        return {**item, "text": _as_sent(text(reader, 12))}

    def _open(self) -> None:
        item = self._item(self._reader.pick(FILES))
        self._model_open(item)
        self._session.notify(types.TEXT_DOCUMENT_DID_OPEN, {"textDocument": item})

    def _model_open(self, item: dict[str, Any]) -> None:
        self._model.open(item["uri"], item["languageId"], item["version"], item["text"])

    def _changes(self, uri: str) -> dict[str, Any]:
        """Return the identifier and the changes of a document; the reference makes them."""
        version = self._reader.byte() % 8
        changes = [self._read_change() for _ in range(self._reader.byte() % 4)]
        self._model.change(uri, version, changes)
        sent = [
            {"text": it.text}
            if isinstance(it, types.TextDocumentContentChangeWholeDocument)
            else {"text": it.text, "range": _as_json(it.range)}
            for it in changes
        ]
        return {"uri": uri, "version": version, "changes": sent}

    def _read_change(self) -> types.TextDocumentContentChangeEvent:
        change = read_change(self._reader)
        change.text = _as_sent(change.text)
        return change

    def _change(self) -> None:
        one = self._changes(self._reader.pick([*FILES, *_cells(NOTEBOOKS[0])]))
        identifier = {"uri": one["uri"], "version": one["version"]}
        params = {"textDocument": identifier, "contentChanges": one["changes"]}
        self._session.notify(types.TEXT_DOCUMENT_DID_CHANGE, params)

    def _close(self) -> None:
        uri = self._reader.pick(FILES)
        self._model.close(uri)
        self._session.notify(types.TEXT_DOCUMENT_DID_CLOSE, {"textDocument": {"uri": uri}})

    def _open_notebook(self) -> None:
        uri = self._reader.pick(NOTEBOOKS)
        cells = [self._cell(cell) for cell in _cells(uri)[: self._reader.byte() % NUM_CELLS]]
        items = [self._item(cell["document"]) for cell in cells]
        self._model.notebooks[uri] = [(cell["document"], cell["kind"]) for cell in cells]
        for item in items:
            self._model_open(item)
        notebook = {"uri": uri, "notebookType": "jupyter", "version": 1, "cells": cells}
        params = {"notebookDocument": notebook, "cellTextDocuments": items}
        self._session.notify(types.NOTEBOOK_DOCUMENT_DID_OPEN, params)

    def _cell(self, uri: str) -> dict[str, Any]:
        return {"kind": 1 + self._reader.byte() % 2, "document": uri}

    def _change_notebook(self) -> None:
        """Replace a part of the cells; the new ones are opened, the removed ones closed."""
        uri = self._reader.pick(NOTEBOOKS)
        start, num_deleted = self._reader.byte() % 5, self._reader.byte() % 3
        known = self._model.notebooks.get(uri)
        listed = [cell for cell, _ in known or ()]
        removed = listed[start : start + num_deleted]
        unlisted = [cell for cell in _cells(uri) if cell not in listed or cell in removed]
        added = [self._cell(cell) for cell in unlisted[: self._reader.byte() % 3]]
        items = [self._item(cell["document"]) for cell in added]
        closed = [cell for cell in removed if cell not in {it["uri"] for it in items}]
        if known is not None:
            known[start : start + num_deleted] = [(it["document"], it["kind"]) for it in added]
        for item in items:
            self._model_open(item)
        content = self._changes(self._reader.pick(_cells(uri)))
        for cell in closed:
            self._model.close(cell)
        structure = {
            "array": {"start": start, "deleteCount": num_deleted, "cells": added},
            "didOpen": items,
            "didClose": [{"uri": cell} for cell in closed],
        }
        identifier = {"uri": content["uri"], "version": content["version"]}
        contents = [{"document": identifier, "changes": content["changes"]}]
        params = {
            "notebookDocument": {"uri": uri, "version": 2},
            "change": {"cells": {"structure": structure, "textContent": contents}},
        }
        self._session.notify(types.NOTEBOOK_DOCUMENT_DID_CHANGE, params)

    def _close_notebook(self) -> None:
        self._close_all_of(self._reader.pick(NOTEBOOKS))

    def _close_all_of(self, uri: str) -> None:
        cells = [cell for cell, _ in self._model.notebooks.pop(uri, [])]
        for cell in cells:
            self._model.close(cell)
        items = [{"uri": cell} for cell in cells]
        params = {"notebookDocument": {"uri": uri}, "cellTextDocuments": items}
        self._session.notify(types.NOTEBOOK_DOCUMENT_DID_CLOSE, params)

    def _compare(self) -> None:
        documents = self._session.server.session.documents
        assert {it.uri for it in documents.opened()} == self._model.documents.keys()
        for uri, expected in self._model.documents.items():
            document = documents.current(uri)
            assert document is not None
            assert (document.text, document.version) == (expected.text, expected.version)
            around = documents.text_around(uri)
            assert (around.before, around.after) == self._model.around(uri)


def _cells(notebook: str) -> list[str]:
    return [f"vscode-notebook-cell:{notebook[7:]}#{number}" for number in range(NUM_CELLS)]


def _as_sent(written: str) -> str:
    """Return a text as JSON has it: two surrogates that meet become one character."""
    return str(json.loads(json.dumps(written)))


def _as_json(span: types.Range) -> dict[str, Any]:
    ends = {"start": span.start, "end": span.end}
    return {key: {"line": at.line, "character": at.character} for key, at in ends.items()}


def check(data: bytes) -> None:
    """Play a session."""
    reader = ByteReader(data)
    play = Play(reader)
    try:
        for _ in range(MAX_STEPS):
            if reader.has_more:
                play.step()
        play.end()
    except BaseException:
        Session.forget_lasting()
        raise


TARGET = Target(
    about="sessions of documents and notebooks, against the client's texts",
    check=check,
    seeds=[
        b"\x00" + b"\x00\x00\x00\x01\x05\x00\x01\x04\x0d\x06" + b"\x01\x00\x02\x02" + bytes(40),
        b"\x01" + b"\x05\x00\x03\x01\x01\x01" + bytes(30) + b"\x06\x00\x01\x01\x02" + bytes(40),
        b"\x02" + bytes(range(250)),
    ],
    watched=["intarsia.lsp.documents", "intarsia.lsp.protocol", "intarsia.lsp.session"],
    weight=1,
    max_bytes=512,
)
