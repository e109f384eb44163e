"""The server's connection to the index of the opened folders, which a child process keeps.

It says which folders are open and what has changed, and asks for chunks, for members, and for the
imports that inserted code needs. Excluded documents are never mentioned to it. Starts the process
only if the settings want context from other files.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TypeAlias, TypeVar

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import ImportBinding, NeededImport, UnboundName
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import Language
from intarsia.infill.replacement import ChangedFile
from intarsia.lsp.documents import Document, Snapshot
from intarsia.lsp.ghost_text import GhostText
from intarsia.lsp.session import Feature, Session
from intarsia.lsp.settings import Settings
from intarsia.workspace.context.chunk import Chunk, Place
from intarsia.workspace.files.paths import RootSettings, as_posix
from intarsia.workspace.process.client import IndexClient
from intarsia.workspace.process.messages import (
    Answer,
    ChooseChunks,
    Chosen,
    FindImports,
    FindMembers,
    FindUses,
    GetStatistics,
    ImportsFound,
    MembersFound,
    Question,
    Statistics,
    UsesFound,
)

logger = logging.getLogger(__name__)

CHOICE_TIMEOUT_S = 10.0
"""No user waits for chunks, but a choice for a text of long ago is of no use."""


USES_TIMEOUT_S = 25.0
"""On a busy machine: the search ends after some seconds of one core."""

IMPORTS_TIMEOUT_S = MEMBERS_TIMEOUT_S = 0.03
"""A suggestion waits for this answer; without it, it is shown without its import."""


MAX_FINDING = 16
"""Answers about imports that are kept or waited for."""

_Question: TypeAlias = tuple[str, int, tuple[UnboundName, ...]]
_Answer = TypeVar("_Answer", bound=Answer)


class IndexConnection(Feature):
    """Sends what happens in the opened folders, and asks for chunks."""

    def __init__(self) -> None:
        self.is_opened = asyncio.Event()  # the folders are known
        self._client: IndexClient | None = None
        self._roots: tuple[RootSettings, ...] = ()
        self._has_file_events = False
        self._finding: dict[_Question, asyncio.Task[ImportsFound | None]] = {}
        self._sent: dict[str, Document] = {}  # by path: the version that the index knows
        self._open_again: Callable[[], None] = lambda: None

    def follow(self, session: Session, *, has_file_events: bool) -> None:
        """Keep the opened folders indexed, now and after each change of settings and folders."""

        def open_again() -> None:
            if not session.settings_requests.is_open:  # a folder may exclude files, or want none
                self.open(session.in_force.of_roots(), has_file_events=has_file_events)

        self._open_again = open_again
        open_again()

    def configured(self, _uris: Collection[str] | None) -> None:
        self._open_again()

    @property
    def has_folders(self) -> bool:
        """Whether chunks can be asked for, now or once the process has started."""
        return self._client is not None and bool(self._roots) and not self._client.fault

    def open(self, folders: Mapping[Path, Settings], *, has_file_events: bool = False) -> None:
        """Index these folders, each under its settings; not those that switch context off.

        Nor are these indexed as a part of a folder that they are in.
        """
        self.is_opened.set()
        off = tuple(
            folder.as_posix()
            for folder, settings in folders.items()
            if not (settings.enabled and settings.project_context)
        )
        roots = tuple(
            RootSettings(
                path=folder.as_posix(),
                exclude=settings.exclude,
                exclude_secrets=settings.exclude_secrets,
                excluded_paths=tuple(it for it in off if PurePath(it).is_relative_to(folder)),
            )
            for folder, settings in folders.items()
            if settings.enabled and settings.project_context
        )
        if (roots, has_file_events) == (self._roots, self._has_file_events):
            return
        self._roots, self._has_file_events = roots, has_file_events
        if self._client is None and roots:
            self._client = IndexClient(logger.warning)
        if self._client is not None:
            self._client.open_roots(roots, has_file_events=has_file_events)

    def root_of(self, path: str) -> str | None:
        """Return the innermost opened folder that a file is in, None if it is in none."""
        holding = [it.path for it in self._roots if PurePath(path).is_relative_to(it.path)]
        return max(holding, key=len, default=None)

    def files_changed(self, paths: Sequence[str]) -> None:
        """Report files that were created, changed or deleted on disk."""
        if self._client is not None:
            self._client.files_changed(paths)

    def update_text(self, path: str, document: Document) -> None:
        """Send the text of an open document, unless this version is known."""
        if self._client is not None and self._sent.get(path) is not document:
            self._sent[path] = document
            self._client.open_text(path, document.text)

    def close_text(self, path: str) -> None:
        """Report that a document was closed: the file on disk counts again."""
        if self._client is not None and self._sent.pop(path, None) is not None:
            self._client.open_text(path, None)

    def has_changed(self, chunk: Chunk) -> bool:
        """Whether a chunk's text may be of the past by now, or may no longer be read."""
        of_open_texts = {it.path for it in chunk.seen if it.is_open_text}
        return chunk.has_changed() or not of_open_texts <= {as_posix(it) for it in self._sent}

    def close_texts(self) -> None:
        """Let the files on disk count again, until open texts are told again."""
        for path in list(self._sent):
            self.close_text(path)

    async def choose(self, place: Place, budget_tokens: int) -> Sequence[Chunk] | None:
        """Return the chunks for a hole, None where there is no answer."""
        question = ChooseChunks.at(place, budget_tokens)
        chosen = await self._ask(question, Chosen, CHOICE_TIMEOUT_S)
        return None if chosen is None else chosen.chunks

    async def find_imports(
        self, path: str, text: str, language_id: str, names: Sequence[UnboundName]
    ) -> Sequence[NeededImport] | None:
        """Return the imports that names of a file need.

        None where there is no answer in time, or files that are not indexed yet may tell more. An
        answer that comes later is there for the next request with the same text.
        """
        key = (path, hash(text), tuple(names))
        if key not in self._finding:
            question = FindImports(path=path, text=text, language_id=language_id, names=key[2])
            work = self._ask(question, ImportsFound, CHOICE_TIMEOUT_S)
            self._finding[key] = asyncio.create_task(work)
            while len(self._finding) > MAX_FINDING:
                self._finding.pop(next(iter(self._finding))).cancel()
        task = self._finding[key]
        await asyncio.wait([task], timeout=IMPORTS_TIMEOUT_S)
        if not task.done():
            return None
        answer = None if task.cancelled() else task.result()
        if answer and (answer.is_complete or all(it.binding for it in answer.found)):
            return answer.found
        self._finding.pop(key, None)  # the index may know more by now
        return None

    async def find_members(
        self, path: str, text: str, language_id: str, offset: int
    ) -> Sequence[str]:
        """Return the names of all members of the receiver's type; () if not known in time."""
        question = FindMembers(path=path, text=text, language_id=language_id, offset=offset)
        found = await self._ask(question, MembersFound, MEMBERS_TIMEOUT_S)
        return found.names if found else ()

    async def find_uses(self, path: str, text: str, at: int, new: str) -> Sequence[ChangedFile]:
        """Return where other files use a renamed declaration, nothing where there is no answer."""
        question = FindUses(path=path, text=text, at=at, new=new)
        found = await self._ask(question, UsesFound, USES_TIMEOUT_S)
        return found.files if found else ()

    async def is_complete(self) -> bool:
        """Whether all files are indexed; False where there is no answer."""
        found = await self._ask(GetStatistics(), Statistics, CHOICE_TIMEOUT_S)
        return found is not None and found.state in ("ready", "failed")

    async def _ask(
        self, question: Question, kind: type[_Answer], timeout_s: float
    ) -> _Answer | None:
        if self._client is None:
            return None
        return await self._client.ask(question, kind, timeout_s=timeout_s)

    async def close(self) -> None:
        for task in self._finding.values():
            task.cancel()
        self._finding.clear()
        if self._client is not None:
            await self._client.close()
            self._client = None


MAX_NAMES = 12
MAX_CHARS = 200_000
"""A longer file gets no imports: its names would take too long to look up."""


async def needed_imports(
    index: IndexConnection,
    document: Document,
    language: Language,
    text: str,
    inserted: Sequence[tuple[int, int]],
) -> tuple[ImportBinding, ...] | None:
    """Return the imports that the inserted ranges of a text need; None without an answer in time.

    Code in a notebook gets none: a cell is no place for a file's imports.
    """
    path = document.disk_path
    is_usual = language.imports is not None and not document.is_cell
    if path is None or not is_usual or len(text) > MAX_CHARS:
        return ()
    names = {
        name.name: name
        for start, end in inserted
        for name in unbound_names(text, start, end, language)
    }
    if not names or index.root_of(path) is None:
        return ()
    asked = tuple(names.values())[:MAX_NAMES]
    found = await index.find_imports(path, text, language.id, asked)
    if found is None:
        return None
    for one in found:
        if one.reason:
            logger.debug("no import for %s: %s", one.name, one.reason)
    bindings = (one.binding for one in found)
    return tuple(
        it
        for it in bindings
        if it is not None and import_edits(text, [it], inserted[0][0], language)
    )


async def with_imports(
    index: IndexConnection, snapshot: Snapshot, ghosts: tuple[GhostText, ...]
) -> tuple[GhostText, ...]:
    """Return the suggestions with their imports; without where the index does not answer soon."""
    if not (snapshot.settings.add_imports and index.has_folders):
        return ghosts
    text, offset = snapshot.text, snapshot.offset
    document, language = snapshot.document, snapshot.language
    found = []
    for ghost in ghosts:
        imports = ghost.imports
        if imports is None:
            whole = text[:offset] + ghost.text + text[offset:]
            inserted = [(offset, offset + len(ghost.text))]
            imports = await needed_imports(index, document, language, whole, inserted)
        found.append(replace(ghost, imports=imports))
    return tuple(found)
