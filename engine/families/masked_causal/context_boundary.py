"""Where a request's context ends, so that typing does not move the suffix.

A causal backbone reads prefix, suffix and hole in this order. A prefix that grows moves the suffix,
which would be read again at every key. So the context ends earlier, at its *boundary*: the start of
a line above the hole. The text from there to the hole follows the suffix, where it may grow and
shrink at no cost. The boundary stays while the user works on a few lines. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from intarsia.engine.ipc.messages import ProjectContext

MAX_CHARS_AFTER = 400
"""With more text between boundary and hole, about 100 tokens, a nearer boundary is chosen."""

_MAX_CHARS_HELD = 200_000
"""The text around a boundary that is read: far more than a context holds."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ContextBoundary:
    """A context that may be opened again. ``prefix`` is the text before the boundary.

    ``context`` has the token ids of prefix and suffix with their marks, after ``num_project`` of
    other files. The hole follows it.
    """

    prefix: str
    suffix: str
    context: Sequence[int]
    project: ProjectContext | None = None
    num_project: int = 0

    def text_after(self, prefix: str) -> str | None:
        """Return the text between the boundary and the end of a prefix, None if it is unusable."""
        text = prefix[len(self.prefix) :]
        is_near = len(text) <= MAX_CHARS_AFTER and prefix.startswith(self.prefix)
        # A line end right after the boundary would be one token with the line end before it.
        return text if is_near and not _begins_blank(text) else None


class FoundBoundary(NamedTuple):
    """A boundary, and the text between it and the hole."""

    boundary: ContextBoundary
    text_after: str


class ContextBoundaries:
    """The boundaries used last."""

    def __init__(self, *, max_held: int = 256) -> None:
        self._held: list[ContextBoundary] = []  # least recently used first
        self._max_held = max_held

    def find(
        self, prefix: str, suffix: str, project: ProjectContext | None = None
    ) -> FoundBoundary | None:
        """Return the boundary nearest to the end of this prefix, None if none is usable.

        A boundary belongs to one project context: with other files it is another prompt.
        """
        usable = [
            FoundBoundary(boundary, text_after)
            for boundary in self._held
            if boundary.suffix == suffix
            and (text_after := boundary.text_after(prefix)) is not None
            and boundary.project == project
        ]
        if not usable:
            return None
        nearest = min(usable, key=lambda found: len(found.text_after))
        self._held.remove(nearest.boundary)
        self._held.append(nearest.boundary)
        return nearest

    def remember(self, boundary: ContextBoundary) -> None:
        """Add a boundary; beyond the limit, the least recently used one is forgotten."""
        chunks = () if boundary.project is None else boundary.project.chunks
        num_chars = sum(len(chunk.text) for chunk in chunks)
        if len(boundary.prefix) + len(boundary.suffix) + num_chars <= _MAX_CHARS_HELD:
            self._held = [*self._held[-self._max_held + 1 :], boundary]


def boundary_offset(prefix: str) -> int | None:
    """Return the offset of a new boundary in this prefix.

    It is the start of the last non-blank line above the hole's own line, or of the hole's own
    line. None if that is too far from the hole, or if nothing would be left before it: the context
    then ends where the hole begins.

    The line above follows the boundary too: the next edit often changes it, and a line end is read
    together with the blank line after it.
    """
    own = prefix.rfind("\n") + 1
    above = prefix.rfind("\n", 0, len(prefix[:own].rstrip())) + 1
    for offset in (above, own):
        is_near = len(prefix) - offset <= MAX_CHARS_AFTER // 2
        if offset and is_near and not _begins_blank(prefix[offset:]):
            return offset
    return None


def _begins_blank(text: str) -> bool:
    return "\n" in text[: len(text) - len(text.lstrip())]
