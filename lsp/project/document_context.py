"""Which code of other files a document's suggestions are written with."""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.workspace.context.chunk import Chunk


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentContext:
    """The chunks for one document, in the order in which the model reads them.

    ``repository`` is the name of the opened folder, ``path`` is the file's, relative to it.
    """

    repository: str
    path: str
    chunks: Sequence[Chunk]
