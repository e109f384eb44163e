"""Messages between the language server and the process of the index."""

from typing import TypeAlias

import msgspec

from intarsia.infill.imports.binding import NeededImport, UnboundName
from intarsia.infill.replacement import ChangedFile
from intarsia.workspace.context.chunk import Chunk, Place, RecentEdit
from intarsia.workspace.files.paths import RootSettings


class OpenRoots(msgspec.Struct, frozen=True, kw_only=True, tag="open_roots"):
    """Index these folders and no others."""

    roots: tuple[RootSettings, ...]
    has_file_events: bool = False  # the editor tells of changed files, so walks can be rare


class FilesChanged(msgspec.Struct, frozen=True, kw_only=True, tag="files_changed"):
    """Files or folders that were created, changed or deleted. Absolute paths."""

    paths: tuple[str, ...]


class OpenText(msgspec.Struct, frozen=True, kw_only=True, tag="open_text"):
    """The text of an open file, which wins over that on disk; None when it is closed."""

    path: str
    text: str | None


class ChooseChunks(msgspec.Struct, frozen=True, kw_only=True, tag="choose_chunks"):
    """A ``Place``, and the options of the choice."""

    path: str
    text: str
    language_id: str
    offset: int
    window_start: int
    window_end: int
    recent_edits: tuple[RecentEdit, ...] = ()
    budget_tokens: int = 500

    @classmethod
    def at(cls, place: Place, budget_tokens: int = 500) -> "ChooseChunks":
        return cls(
            path=place.path,
            text=place.text,
            language_id=place.language.id,
            offset=place.offset,
            window_start=place.window_start,
            window_end=place.window_end,
            recent_edits=tuple(place.recent_edits),
            budget_tokens=budget_tokens,
        )


class FindImports(msgspec.Struct, frozen=True, kw_only=True, tag="find_imports"):
    """Names that a file uses and does not know. ``text``: the file's, with these uses."""

    path: str
    text: str
    language_id: str
    names: tuple[UnboundName, ...]


class FindMembers(msgspec.Struct, frozen=True, kw_only=True, tag="find_members"):
    """The members of the type of what is left of the dot at an offset of a text."""

    path: str
    text: str
    language_id: str
    offset: int


class FindUses(msgspec.Struct, frozen=True, kw_only=True, tag="find_uses"):
    """Where other files use what is declared at ``at`` of a text, which is called ``new`` now."""

    path: str
    text: str
    at: int
    new: str


class GetStatistics(msgspec.Struct, frozen=True, kw_only=True, tag="get_statistics"):
    """Asks for ``Statistics``."""


class Chosen(msgspec.Struct, frozen=True, kw_only=True, tag="chosen"):
    """The answer to ``ChooseChunks``."""

    chunks: tuple[Chunk, ...]


class ImportsFound(msgspec.Struct, frozen=True, kw_only=True, tag="imports_found"):
    """The answer to ``FindImports``, one for each name.

    Where the index is not complete, other files may tell more.
    """

    found: tuple[NeededImport, ...]
    is_complete: bool = True


class MembersFound(msgspec.Struct, frozen=True, kw_only=True, tag="members_found"):
    """The answer to ``FindMembers``: all their names; () where some may be unknown."""

    names: tuple[str, ...]


class UsesFound(msgspec.Struct, frozen=True, kw_only=True, tag="uses_found"):
    """The answer to ``FindUses``, of the files that are indexed."""

    files: tuple[ChangedFile, ...]


class Statistics(msgspec.Struct, frozen=True, kw_only=True, tag="statistics"):
    """How much is indexed. ``state``: "walking", "indexing", "ready" or "failed"."""

    state: str
    num_files: int
    num_left_out: int
    num_definitions: int
    num_queued: int
    fault: str = ""


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """There is no answer; ``message`` is one line."""

    message: str


Question: TypeAlias = ChooseChunks | FindImports | FindMembers | FindUses | GetStatistics
Answer: TypeAlias = Chosen | ImportsFound | MembersFound | UsesFound | Statistics
ToIndex: TypeAlias = OpenRoots | FilesChanged | OpenText | Question
FromIndex: TypeAlias = Answer | Failed

decode_to_index = msgspec.msgpack.Decoder(tuple[int, ToIndex]).decode
decode_from_index = msgspec.msgpack.Decoder(tuple[int, FromIndex]).decode
"""A question's number comes before it and before its answer; what has no answer has 0."""
