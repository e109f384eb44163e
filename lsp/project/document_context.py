"""Which code of other files a document's suggestions are written with, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from intarsia.workspace.context.chunk import Chunk

MIN_GAIN = 0.0
"""Nats per token: a chunk is kept if it makes the known code near the hole likelier than this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredChunk:
    """A chunk and its gain: how much likelier it makes the known code near the hole.

    ``gain`` is in nats per token; None if it was not scored, and then the chunk is kept.
    """

    chunk: Chunk
    gain: float | None = None

    @property
    def is_kept(self) -> bool:
        return self.gain is None or self.gain > MIN_GAIN


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentContext:
    """The chunks for one document, in the order in which the model reads them.

    ``repository`` is the name of the opened folder, ``path`` is the file's, relative to it.
    """

    repository: str
    path: str
    chunks: Sequence[ScoredChunk] = field(default=())

    @property
    def kept(self) -> Sequence[Chunk]:
        """The chunks that passed the gate."""
        return tuple(scored.chunk for scored in self.chunks if scored.is_kept)
