"""Chunks of other files that a model reads before a hole: the place they are for, their budget."""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.syntax.embedded_code import code_of_language
from intarsia.workspace.files.paths import Seen


@dataclass(frozen=True, kw_only=True, slots=True)
class RecentEdit:
    """Lines of an open file that the user edited, as they are now."""

    path: str  # absolute, with forward slashes
    text: str  # of the whole file, as the editor has it
    start_line: int  # 0-based
    end_line: int  # exclusive


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A hole at ``offset`` of a text; the model sees ``text[window_start:window_end]`` anyway."""

    path: str  # absolute, with forward slashes
    text: str
    language: Language
    offset: int
    window_start: int
    window_end: int
    recent_edits: Sequence[RecentEdit] = ()  # newest first, in other files


def in_own_language(place: Place) -> Place:
    """Return a hole of a Markdown document among the document's code in the hole's language.

    Its imports are then found and followed as in a source file. Text is no code: its words would
    ask for passages of other documents.
    """
    code = code_of_language(place.text, place.offset, place.language)
    return replace(place, text=code.text, language=code.language)


def extensions_of(path: str, language: Language) -> tuple[str, ...]:
    """Return how names of files end that code in a file may mean: as the file's own name does.

    Of code in a document, as its language's files do.
    """
    is_embedded = language.extensions and language_for_path(path).id != language.id
    return language.extensions if is_embedded else (posixpath.splitext(path)[1],)


ChunkKind: TypeAlias = Literal["signatures", "members", "recent_edit", "similar", "sibling"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """Text of one file, and why it was chosen."""

    path: str  # relative to the opened folder, with forward slashes
    text: str
    kind: ChunkKind
    reason: str  # one line for the user, such as "imported: Session, Settings"
    seen: tuple[Seen, ...] = ()  # the file itself, and the ignore files that let it be read

    def has_changed(self) -> bool:
        """Whether the text may be of the past by now, or may no longer be read."""
        return any(file.has_changed() for file in self.seen)


SHARES: Mapping[ChunkKind, float] = {
    "members": 0.5,
    "signatures": 1.0,
    "recent_edit": 0.2,
    "similar": 0.2,
    "sibling": 0.12,
}
"""The part of the budget that a kind may have. Signatures get what the others leave unused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkOptions:
    """The choice of chunks; tokens are estimated from characters, of paths too."""

    budget_tokens: int = 500
    kinds: frozenset[ChunkKind] = frozenset(SHARES)  # others than all are for measuring


READING_S = 0.9
"""Reading all code of other files takes at most about this long, in idle time."""

LEAST_TOKENS, MOST_TOKENS = 150, 4_000
UNKNOWN_TOKENS = 500
"""The budget until a speed has been measured: what two cores read in about a second."""


def context_budget(tokens_per_s: float | None) -> int:
    """Return the number of tokens of other files to read; ``tokens_per_s`` None is unknown."""
    if tokens_per_s is None:
        return UNKNOWN_TOKENS
    return int(min(max(tokens_per_s * READING_S, LEAST_TOKENS), MOST_TOKENS))
