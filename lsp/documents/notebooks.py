"""The cells of the open notebooks, in order.

A cell is a document of its own. The code of the cells before and after it is its prefix and suffix
too. The protocol sends no outputs, so none are ever read.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from lsprotocol import types

CELL_SEPARATOR = "\n\n"
MAX_CHARS_AROUND = 60_000
"""Text of other cells on each side: far more than a model reads."""


class CellText(Protocol):
    """The text of a cell, which its document has."""

    @property
    def language_id(self) -> str: ...
    @property
    def text(self) -> str: ...


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
        """Take a notebook with its cells."""
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
        """Forget a notebook."""
        self._set_cells(uri, ())
        self._cells.pop(uri, None)

    def text_around(self, uri: str, text_of: Callable[[str], CellText | None]) -> TextAround:
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
