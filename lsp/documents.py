"""The open documents as the client has them, kept up to date by didOpen, didChange and didClose.

The cells of notebooks are documents too. Each version is a frozen ``Document``. A reader that keeps
one keeps that version; ``current(uri) is document`` tells whether it is still the newest. What one
request sees of a document is a ``Snapshot``.

A document may be in an opened folder. This may be in a virtual file system, such as a repository
that an editor shows without a clone: its documents have text, but no file on this machine.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from intarsia.infill.languages import Language, language_for
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import line_starts
from intarsia.lsp.positions import (
    PositionEncoding,
    changed_text,
    offset_at,
    position_at,
    readable,
)
from intarsia.lsp.protocol_extensions import Extensions
from intarsia.lsp.settings import Settings

if TYPE_CHECKING:
    from intarsia.infill.filling.plan import FillOptions

logger = logging.getLogger(__name__)

_remembered = lru_cache(maxsize=512)  # each key asks for the same few URIs, several times


@dataclass(frozen=True, kw_only=True, slots=True)
class Folder:
    """An opened folder, by the URI that the client has for it."""

    uri: str

    @property
    def path(self) -> Path | None:
        """The folder on this machine, None where it is in a virtual file system."""
        path = disk_path(self.uri)
        return Path(path) if path else None

    def holds(self, uri: str) -> bool:
        """Whether a document is in the folder, at any depth."""
        return _place(uri) == _place(self.uri) and uri_path(uri).is_relative_to(uri_path(self.uri))


def opened_folders(params: types.InitializeParams) -> tuple[Folder, ...]:
    """Return the folders that the client has opened, in its order."""
    uris = [folder.uri for folder in params.workspace_folders or ()]
    if not uris and params.root_uri:
        uris = [params.root_uri]
    return tuple(Folder(uri=uri) for uri in uris)


def folder_of(uri: str, folders: Iterable[Folder]) -> Folder | None:
    """Return the innermost folder that a document is in, None if it is in none."""
    holding = [folder for folder in folders if folder.holds(uri)]
    return max(holding, key=lambda folder: len(uri_path(folder.uri).parts), default=None)


def settings_folder_of(uri: str, folders: Sequence[Folder]) -> Folder | None:
    """Return the folder that gives a document its settings; None: the window does.

    A new document is in no folder yet. It follows the one that it will be saved in, if it has a
    path already. Otherwise it follows the only opened folder: there the user takes the folder's
    settings for the window's, and VS Code makes no difference between them.
    """
    is_nameless = scheme_of(uri) == "file" and disk_path(uri) is None
    if scheme_of(uri) != "untitled" and not is_nameless:
        return folder_of(uri, folders)
    if (path := uri_path(uri)).is_absolute():
        return folder_of(from_fs_path(str(path)) or uri, folders)
    return folders[0] if len(folders) == 1 else None


@_remembered
def disk_path(uri: str) -> str | None:
    """Return the path of a file on disk, with forward slashes; None for any other document."""
    path = _fs_path(uri)
    return PurePath(path).as_posix() if path else None


@_remembered
def uri_path(uri: str) -> PurePath:
    """Return the path in a URI, of a file on disk or in another file system."""
    return PurePath(_fs_path(uri) or unquote(_split(uri).path))


@_remembered
def _place(uri: str) -> tuple[str, str]:
    parts = _split(uri)
    return parts.scheme, parts.netloc


def scheme_of(uri: str) -> str:
    """Return what a URI begins with, such as "file"; "" where the URI is malformed."""
    return _split(uri).scheme


def _fs_path(uri: str) -> str | None:
    return to_fs_path(uri) if scheme_of(uri) == "file" else None


def _split(uri: str) -> SplitResult:
    try:
        return urlsplit(uri)
    except ValueError:  # brackets that hold no address
        return SplitResult("", "", uri, "", "")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Document:
    """One version of an open document."""

    uri: str
    language_id: str
    language: Language  # by the editor's identifier, else by the file's name
    version: int
    encoding: PositionEncoding
    text: str
    line_starts: Sequence[int]
    is_edited: bool = False  # since it was opened
    file_uri: str  # of a cell: the notebook that it is in; else its own

    @property
    def is_cell(self) -> bool:
        return self.file_uri != self.uri

    @property
    def disk_path(self) -> str | None:
        """The path of the file on disk, with forward slashes; None for any other document."""
        return disk_path(self.file_uri)

    def offset_at(self, position: types.Position) -> int:
        return offset_at(self.text, self.line_starts, position, self.encoding)

    def position_at(self, offset: int) -> types.Position:
        return position_at(self.text, self.line_starts, offset, self.encoding)

    def with_text(self, text: str) -> "Document":
        return replace(self, text=text, line_starts=line_starts(text))


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentChange:
    """A change of a document or of a notebook's cell, as the client sent it."""

    before: Document
    after: Document
    changes: Sequence[types.TextDocumentContentChangeEvent]


@dataclass(frozen=True, kw_only=True, slots=True)
class NotebookChange:
    """A notebook's change, as it affects its cells."""

    changes: Sequence[DocumentChange] = ()
    closed: Sequence[str] = ()  # URIs
    is_rearranged: bool = False


CELL_SEPARATOR = "\n\n"
MAX_CHARS_AROUND = 60_000
"""Text of other cells on each side: far more than a model reads."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextAround:
    """The text of a notebook before and after one cell; both are empty for a file."""

    before: str = ""
    after: str = ""


class Notebooks:
    """Which cells belong together."""

    def __init__(self) -> None:
        self._cells: dict[str, list[types.NotebookCell]] = {}  # by the notebook's URI
        self._notebook_of: dict[str, str] = {}  # by the cell's URI

    def notebook_of(self, uri: str) -> str | None:
        """Return the notebook that a cell is in, None for any other document."""
        return self._notebook_of.get(uri)

    def open(self, notebook: types.NotebookDocument) -> None:
        self._set_cells(notebook.uri, notebook.cells)

    def change(self, uri: str, cells: types.NotebookDocumentCellChanges) -> None:
        """Insert, remove or move cells, or change what is known about some."""
        if uri not in self._cells:
            return
        known = list(self._cells[uri])
        if cells.structure is not None:
            array = cells.structure.array
            known[array.start : array.start + array.delete_count] = array.cells or ()
        newer = {cell.document: cell for cell in cells.data or ()}
        self._set_cells(uri, [newer.get(cell.document, cell) for cell in known])

    def close(self, uri: str) -> None:
        self._set_cells(uri, ())
        self._cells.pop(uri, None)

    def text_around(self, uri: str, text_of: Callable[[str], Document | None]) -> TextAround:
        """Return the code of the other cells in this cell's language.

        Beyond the limit, the cells farthest away are left out. ``text_of`` returns the text of a
        cell, None if it is not open.
        """
        own, notebook = text_of(uri), self.notebook_of(uri)
        if own is None or notebook is None:
            return TextAround()
        cells = self._cells[notebook]
        at = next(i for i, cell in enumerate(cells) if cell.document == uri)

        def code(others: Iterable[types.NotebookCell]) -> Iterator[str]:
            for cell in others:
                other = text_of(cell.document) if cell.kind == _CODE else None
                if other is not None and other.language_id == own.language_id:
                    yield other.text

        before = _nearest(code(reversed(cells[:at])))
        after = _nearest(code(cells[at + 1 :]))
        return TextAround(
            before="".join(text + CELL_SEPARATOR for text in reversed(before)),
            after="".join(CELL_SEPARATOR + text for text in after),
        )

    def _set_cells(self, uri: str, cells: Iterable[types.NotebookCell]) -> None:
        for cell in self._cells.get(uri, ()):
            if self.notebook_of(cell.document) == uri:  # it may have moved to another notebook
                del self._notebook_of[cell.document]
        self._cells[uri] = list(cells)
        self._notebook_of.update((cell.document, uri) for cell in self._cells[uri])


_CODE = types.NotebookCellKind.Code


def _nearest(texts: Iterable[str]) -> Sequence[str]:
    """Return the first texts that are together within the limit, and not blank."""
    kept, num_chars = [], 0
    for text in texts:
        num_chars += len(text)
        if num_chars > MAX_CHARS_AROUND:
            break
        if text.strip():
            kept.append(text)
    return kept


class Documents:
    """Every open document at its newest version."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self._with_halves: dict[str, str] = {}  # by URI: texts that have halves of characters
        self._lost: set[str] = set()  # URIs of open documents whose text is not known
        self._notebooks = Notebooks()
        self.encoding: PositionEncoding = "utf-16"

    def current(self, uri: str) -> Document | None:
        return None if uri in self._lost else self._open.get(uri)

    def version_of(self, uri: str) -> int:
        return self._open[uri].version if uri in self._open else 0

    def why_none(self, uri: str) -> str:
        if uri in self._lost:
            return "a change to the document could not be read: close it and open it again"
        return "the document is not open"

    def opened(self) -> Sequence[Document]:
        """Return every open document, the cells of notebooks too."""
        return tuple(it for uri, it in self._open.items() if uri not in self._lost)

    def edited_files(self) -> Sequence[Document]:
        """Return the open files that were edited; cells of notebooks are not files."""
        return [it for it in self.opened() if it.is_edited and not it.is_cell]

    def text_around(self, uri: str) -> TextAround:
        """Return the text of a notebook before and after a cell; none for any other document."""
        return self._notebooks.text_around(uri, self.current)

    def open(self, item: types.TextDocumentItem) -> None:
        file_uri = self._notebooks.notebook_of(item.uri) or item.uri
        path = disk_path(file_uri) or ""
        document = Document(
            uri=item.uri,
            language_id=item.language_id,
            language=language_for(item.language_id, path),
            version=item.version,
            encoding=self.encoding,
            text="",
            line_starts=(0,),
            file_uri=file_uri,
        )
        self._set_text(document, item.text)

    def lose(self, uri: str) -> Sequence[str]:
        """Mark a document or notebook cells as changed in unknown ways; return their URIs."""
        lost = [it.uri for it in self._open.values() if uri in (it.uri, it.file_uri)]
        self._lost.update(lost)
        return lost

    def _set_text(self, document: Document, text: str) -> None:
        self._lost.discard(document.uri)
        self._with_halves.pop(document.uri, None)
        if (known := readable(text)) != text:
            self._with_halves[document.uri] = text
        self._open[document.uri] = document.with_text(known)

    def change(self, params: types.DidChangeTextDocumentParams) -> DocumentChange | None:
        """Apply a change and return it; None where the text was not known before or is not now."""
        uri = params.text_document.uri
        document = self._open.get(uri)
        if document is None:
            logger.warning("ignored a change of a document that is not open: %s", uri)
            return None
        changes, before = params.content_changes, self.current(uri)
        if before is None and not any(
            isinstance(it, types.TextDocumentContentChangeWholeDocument) for it in changes
        ):
            return None
        text = changed_text(self._with_halves.get(uri, document.text), changes, self.encoding)
        # Some clients never raise the version, or restart it. The order is that of the messages.
        version = params.text_document.version
        self._set_text(replace(document, version=version, is_edited=True), text)
        if before is None:
            return None
        return DocumentChange(before=before, after=self._open[uri], changes=changes)

    def close(self, uri: str) -> None:
        self._lost.discard(uri)
        self._with_halves.pop(uri, None)
        if self._open.pop(uri, None) is None:
            logger.warning("ignored the closing of a document that is not open: %s", uri)

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self._notebooks.open(params.notebook_document)
        for item in params.cell_text_documents:
            self.open(item)

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> NotebookChange:
        """Apply the changes and return them."""
        cells = params.change.cells
        if cells is None:
            return NotebookChange()
        self._notebooks.change(params.notebook_document.uri, cells)
        structure = cells.structure
        for item in (structure.did_open if structure is not None else None) or ():
            self.open(item)
        contents = [
            types.DidChangeTextDocumentParams(content.document, content.changes)
            for content in cells.text_content or ()
        ]
        changes = [change for it in contents if (change := self.change(it)) is not None]
        closed = [item.uri for item in (structure.did_close if structure else None) or ()]
        for uri in closed:
            self.close(uri)
        kept = [it for it in changes if it.after.uri not in closed]
        return NotebookChange(changes=kept, closed=closed, is_rearranged=structure is not None)

    def close_notebook(self, params: types.DidCloseNotebookDocumentParams) -> Sequence[str]:
        """Forget the notebook; return the URIs of its cells."""
        closed = [item.uri for item in params.cell_text_documents]
        for uri in closed:
            self.close(uri)
        self._notebooks.close(params.notebook_document.uri)
        return closed


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """What one request sees, resolved once: every step works from this value alone.

    ``text`` is the document's with ``selected`` inserted, a word that is selected in the client's
    own menu and counts as typed (LSP: ``selectedCompletionInfo``); ``offset`` is the cursor in it,
    ``place`` in the document's own text, which other cells of a notebook precede.
    """

    document: Document
    text: str
    offset: int
    place: int
    selected: types.SelectedCompletionInfo | None = None
    language: Language
    settings: Settings  # the document's
    options: "FillOptions"  # by these
    refusal: NoSuggestion | None = None  # why the document gets no suggestions
    shows_drafts: bool = False  # while its suggestion settles
    extensions: Extensions = field(default_factory=Extensions)  # that the client requested
    taken_at: float = field(default_factory=time.monotonic)

    def is_current(self, documents: Documents) -> bool:
        """Whether this is still the newest version of the document."""
        return documents.current(self.document.uri) is self.document

    @property
    def selected_text(self) -> str:
        return self.selected.text if self.selected else ""

    def range_at_cursor(self, num_before: int = 0) -> types.Range:
        """Return the client's range from ``num_before`` characters before the cursor to the cursor.

        With a word selected in the client's menu it is that word's range, as LSP demands.
        """
        if self.selected is not None:
            return self.selected.range
        end = self.document.position_at(self.place)
        start = self.document.position_at(self.place - num_before) if num_before else end
        return types.Range(start=start, end=end)
