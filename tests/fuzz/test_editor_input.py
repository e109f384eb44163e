"""What an editor may send: positions, sessions of documents, messages of any content, settings."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from lsp_session import Session
from lsprotocol import types
from reference_text import ENCODINGS, slow_offset, slow_position, slowly_changed
from strategies import CHARACTERS, as_sent, changes, joined, json_values, positions, texts

from intarsia.infill.syntax.text import line_starts
from intarsia.lsp.positions import PositionEncoding, offset_at, position_at
from intarsia.lsp.settings import FOLDER_OPTIONS, OPTIONS, Settings
from intarsia.lsp.settings_in_force import (
    resolve_folder_settings,
    resolve_language_settings,
    resolve_settings,
)

FILES = ("file:///a.py", "file:///b%20c.ts", "untitled:Untitled-1", "file://[bad/x", "")
LANGUAGES = ("python", "typescript", "markdown", "")
NOTEBOOKS = ("file:///n.ipynb", "file:///m.ipynb")
NUM_CELLS = 4
METHODS = [
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.TEXT_DOCUMENT_INLINE_COMPLETION,
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.CODE_ACTION_RESOLVE,
    types.WORKSPACE_EXECUTE_COMMAND,
    types.CANCEL_REQUEST,
    types.INITIALIZE,
    types.SET_TRACE,
    "unknown/method",
]
FIELDS = ["textDocument", "contentChanges", "range", "start", "end", "line", "character", "text"]
FIELDS += ["uri", "version", "languageId", "position", "context", "diagnostics", "command"]
FIELDS += ["arguments", "notebookDocument", "cells", "change", "structure", "array", "id", "method"]

encodings = st.sampled_from(ENCODINGS)
Changes = Sequence[types.TextDocumentContentChangeEvent]


@settings(max_examples=300)
@given(encodings, texts, st.lists(positions, min_size=1, max_size=3))
def test_positions_are_those_of_the_slow_reference(encoding, text, asked):
    starts = line_starts(text)
    for position in asked:
        offset = offset_at(text, starts, position, encoding)
        assert offset == slow_offset(text, position, encoding)
        assert position_at(text, starts, offset, encoding) == slow_position(text, offset, encoding)


values = json_values(st.sampled_from([*FIELDS, "jsonrpc"]) | st.text(max_size=8))
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": st.integers(1, 3) | st.text(max_size=2) | values,
        "method": st.sampled_from(METHODS) | values,
        "params": values,
        "result": values,
        "error": values,
    },
)


@given(messages | values)
def test_each_request_is_answered_once(message: Any) -> None:
    session = Session.lasting("utf-16")
    session.sent.clear()
    session.send(message)
    session.send({"jsonrpc": "2.0", "id": "next", "method": "unknown/method", "params": None})
    answers = session.answers()
    assert answers[-1] == "next"
    if is_request(message):
        assert [json.dumps(it) for it in answers].count(json.dumps(message["id"])) == 1


def is_request(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and type(message.get("id")) in (str, int)
        and message["id"] != "next"
        and not {"error", "result"} & message.keys()
    )


option_names = st.sampled_from([*OPTIONS, "unknown"]) | st.text()
option_values = json_values(st.text()) | st.just("python")
options = st.dictionaries(
    option_names,
    option_values | st.dictionaries(option_names, option_values, max_size=3),
    max_size=6,
)


@given(options, options)
def test_any_settings_become_valid_ones(window_options, folder_options):
    window, problems = resolve_settings(window_options)
    folder, more = resolve_folder_settings(window, folder_options)
    languages, most = resolve_language_settings(folder)
    for one in (window, folder, *languages.values()):
        msgspec.convert(msgspec.to_builtins(one), Settings)
    for key, option in OPTIONS.items():
        if key not in FOLDER_OPTIONS:
            assert getattr(folder, option.name) == getattr(window, option.name)
    assert all(isinstance(line, str) for line in (*problems, *more, *most))


def cells_of(notebook: str) -> list[str]:
    return [f"vscode-notebook-cell:{notebook[7:]}#{number}" for number in range(NUM_CELLS)]


files, notebooks = st.sampled_from(FILES), st.sampled_from(NOTEBOOKS)
items = st.fixed_dictionaries(
    {
        "languageId": st.sampled_from(LANGUAGES),
        "version": st.integers(0, 3),
        "text": joined(CHARACTERS, 12).map(as_sent),
    }
)
new_cells = st.lists(st.tuples(st.integers(1, 2), items), max_size=3)
changed = st.tuples(st.integers(0, 7), changes)
steps = (
    st.tuples(st.just("open"), files, items)
    | st.tuples(st.just("change"), st.sampled_from([*FILES, *cells_of(NOTEBOOKS[0])]), changed)
    | st.tuples(st.just("close"), files)
    | st.tuples(st.just("open_notebook"), notebooks, new_cells)
    | st.tuples(
        st.just("change_notebook"),
        notebooks,
        st.integers(0, 4),
        st.integers(0, 2),
        new_cells,
        st.integers(0, NUM_CELLS - 1),
        changed,
    )
    | st.tuples(st.just("close_notebook"), notebooks)
)


@given(encodings, st.lists(steps, max_size=24))
def test_the_server_has_the_texts_of_its_client(encoding, played):
    play = Play(encoding)
    try:
        for name, *arguments in played:
            getattr(play, name)(*arguments)
            play.compare()
        play.end()
    except BaseException:
        Session.forget_lasting()
        raise


SEPARATOR = "\n\n"


@dataclass(kw_only=True, slots=True)
class ModelDocument:
    language_id: str
    version: int
    units: str  # halves of characters, too

    @property
    def text(self) -> str:
        return re.sub("[\ud800-\udfff]", "\ufffd", self.units)


@dataclass(slots=True)
class TextModel:
    """What a client knows: documents by URI, the cells of each open notebook, with their kinds."""

    encoding: PositionEncoding
    documents: dict[str, ModelDocument] = field(default_factory=dict)
    notebooks: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def open(self, uri: str, language_id: str, version: int, text: str) -> None:
        document = ModelDocument(language_id=language_id, version=version, units=text)
        self.documents[uri] = document

    def change(self, uri: str, version: int, changes: Changes) -> None:
        document = self.documents.get(uri)
        if document is not None:
            document.units = slowly_changed(document.units, changes, self.encoding)
            document.version = version

    def close(self, uri: str) -> None:
        self.documents.pop(uri, None)

    def around(self, uri: str) -> tuple[str, str]:
        """Return the code before and after a cell in its notebook: cells of its language."""
        for cells in self.notebooks.values():
            uris = [cell for cell, _ in cells]
            if uri in uris:
                at = uris.index(uri)
                before, after = self._code(uri, cells[:at]), self._code(uri, cells[at + 1 :])
                return (
                    "".join(text + SEPARATOR for text in before),
                    "".join(SEPARATOR + text for text in after),
                )
        return "", ""

    def _code(self, uri: str, cells: Sequence[tuple[str, int]]) -> list[str]:
        others = [self.documents.get(cell) for cell, kind in cells if kind == 2]
        own = self.documents[uri].language_id
        return [it.text for it in others if it and it.language_id == own and it.text.strip()]


class Play:
    """One session and its reference. Each step sends a message, and both take it."""

    def __init__(self, encoding: PositionEncoding) -> None:
        self._session = Session.lasting(encoding)
        self._model = TextModel(encoding)

    def end(self) -> None:
        """Close everything, so that the session can go on with another play."""
        for uri in NOTEBOOKS:
            self.close_notebook(uri)
        for uri in list(self._model.documents):
            self.close(uri)
        self.compare()

    def open(self, uri: str, item: dict[str, Any]) -> None:
        self._session.notify(
            types.TEXT_DOCUMENT_DID_OPEN, {"textDocument": self._opened(uri, item)}
        )

    def change(self, uri: str, change: tuple[int, Changes]) -> None:
        identifier, sent = self._changed(uri, change)
        params = {"textDocument": identifier, "contentChanges": sent}
        self._session.notify(types.TEXT_DOCUMENT_DID_CHANGE, params)

    def close(self, uri: str) -> None:
        self._model.close(uri)
        self._session.notify(types.TEXT_DOCUMENT_DID_CLOSE, {"textDocument": {"uri": uri}})

    def open_notebook(self, uri: str, added: list[tuple[int, dict[str, Any]]]) -> None:
        named = list(zip(cells_of(uri), added, strict=False))
        self._model.notebooks[uri] = [(cell, kind) for cell, (kind, _) in named]
        items = [self._opened(cell, item) for cell, (_, item) in named]
        cells = [{"kind": kind, "document": cell} for cell, (kind, _) in named]
        notebook = {"uri": uri, "notebookType": "jupyter", "version": 1, "cells": cells}
        params = {"notebookDocument": notebook, "cellTextDocuments": items}
        self._session.notify(types.NOTEBOOK_DOCUMENT_DID_OPEN, params)

    def change_notebook(self, uri, start, num_deleted, added, changed_cell, change) -> None:
        """Replace a part of the cells; the new ones are opened, the removed ones closed."""
        known = self._model.notebooks.get(uri)
        listed = [cell for cell, _ in known or ()]
        removed = listed[start : start + num_deleted]
        unlisted = [cell for cell in cells_of(uri) if cell not in listed or cell in removed]
        named = list(zip(unlisted, added, strict=False))
        if known is not None:
            known[start : start + num_deleted] = [(cell, kind) for cell, (kind, _) in named]
        items = [self._opened(cell, item) for cell, (_, item) in named]
        identifier, sent = self._changed(cells_of(uri)[changed_cell], change)
        closed = [cell for cell in removed if cell not in {name for name, _ in named}]
        for cell in closed:
            self._model.close(cell)
        cells = [{"kind": kind, "document": cell} for cell, (kind, _) in named]
        structure = {
            "array": {"start": start, "deleteCount": num_deleted, "cells": cells},
            "didOpen": items,
            "didClose": [{"uri": cell} for cell in closed],
        }
        contents = [{"document": identifier, "changes": sent}]
        params = {
            "notebookDocument": {"uri": uri, "version": 2},
            "change": {"cells": {"structure": structure, "textContent": contents}},
        }
        self._session.notify(types.NOTEBOOK_DOCUMENT_DID_CHANGE, params)

    def close_notebook(self, uri: str) -> None:
        cells = [cell for cell, _ in self._model.notebooks.pop(uri, [])]
        for cell in cells:
            self._model.close(cell)
        items = [{"uri": cell} for cell in cells]
        params = {"notebookDocument": {"uri": uri}, "cellTextDocuments": items}
        self._session.notify(types.NOTEBOOK_DOCUMENT_DID_CLOSE, params)

    def compare(self) -> None:
        documents = self._session.server.session.documents
        assert {it.uri for it in documents.opened()} == self._model.documents.keys()
        for uri, expected in self._model.documents.items():
            document = documents.current(uri)
            assert (document.text, document.version) == (expected.text, expected.version)
            around = documents.text_around(uri)
            assert (around.before, around.after) == self._model.around(uri)

    def _opened(self, uri: str, item: dict[str, Any]) -> dict[str, Any]:
        self._model.open(uri, item["languageId"], item["version"], item["text"])
        return {"uri": uri, **item}

    def _changed(self, uri: str, change: tuple[int, Changes]) -> tuple[dict[str, Any], list[Any]]:
        """Return the identifier and the changes of a document; the reference makes them."""
        version, content = change
        self._model.change(uri, version, content)
        sent = [
            {"text": it.text}
            if isinstance(it, types.TextDocumentContentChangeWholeDocument)
            else {"text": it.text, "range": as_json(it.range)}
            for it in content
        ]
        return {"uri": uri, "version": version}, sent


def as_json(span: types.Range) -> dict[str, Any]:
    ends = {"start": span.start, "end": span.end}
    return {key: {"line": at.line, "character": at.character} for key, at in ends.items()}
