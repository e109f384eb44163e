"""Documents and their changes without a client: for tests of what the server does with them."""

from lsprotocol import types

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.text import line_starts
from intarsia.lsp.documents import Document, Snapshot
from intarsia.lsp.session import Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshots import options_of, snapshot_of

URI = "file:///a.py"


def document(text: str = "", *, uri: str = URI, version: int = 1) -> Document:
    """Return a Python document whose positions count UTF-16."""
    return Document(
        uri=uri,
        language_id="python",
        language=language_for_id("python"),
        version=version,
        encoding="utf-16",
        text=text,
        line_starts=line_starts(text),
        file_uri=uri,
    )


def taken(
    session: Session,
    uri: str,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None = None,
) -> Snapshot:
    """Return what a request sees of an open document."""
    found = session.documents.current(uri)
    assert found is not None, session.documents.why_none(uri)
    return snapshot_of(session, found, position, selected)


def seen(drawing: str, uri: str = URI) -> Snapshot:
    """Return what a request sees of a text whose cursor is drawn as ``|``."""
    text = drawing.replace("|", "")
    offset = drawing.index("|")
    read = document(text, uri=uri)
    return Snapshot(
        document=read,
        text=text,
        offset=offset,
        place=offset,
        language=read.language,
        settings=Settings(),
        options=options_of(Settings(), 0),
    )


def changed(
    uri: str, version: int, *changes: str | tuple[types.Range, str]
) -> types.DidChangeTextDocumentParams:
    """Return a notification: each change is a whole text, or a range and its text."""
    events: list[types.TextDocumentContentChangeEvent] = [
        types.TextDocumentContentChangeWholeDocument(it)
        if isinstance(it, str)
        else types.TextDocumentContentChangePartial(*it)
        for it in changes
    ]
    identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
    return types.DidChangeTextDocumentParams(identifier, events)


def at(line: int, start: int, end: int | None = None) -> types.Range:
    """Return a range in one line; without an end, the empty one."""
    end = start if end is None else end
    return types.Range(types.Position(line, start), types.Position(line, end))
