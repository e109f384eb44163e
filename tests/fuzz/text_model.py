"""What a client knows of its open documents: the reference that a server's session is held to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lsprotocol import types
from reference_text import slowly_changed

from intarsia.lsp.documents.positions import PositionEncoding

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
    """The documents by URI, and the cells of each open notebook in order, with their kinds."""

    encoding: PositionEncoding
    documents: dict[str, ModelDocument] = field(default_factory=dict)
    notebooks: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def open(self, uri: str, language_id: str, version: int, text: str) -> None:
        document = ModelDocument(language_id=language_id, version=version, units=text)
        self.documents[uri] = document

    def change(
        self, uri: str, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]
    ) -> None:
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
