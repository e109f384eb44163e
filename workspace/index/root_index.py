"""The index of one opened folder: what it knows, what has changed, and what is to be read next.

It works in small steps, and asks ``FileRules`` again at the moment it reads a file. A database that
fails never fails its caller: a damaged one is made again, a full disk pauses the index.
"""

import heapq
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_path
from intarsia.workspace.files.file_rules import FileRules
from intarsia.workspace.files.ignore_rules import IGNORE_FILES
from intarsia.workspace.files.paths import OPEN_TEXT, RootSettings, Seen
from intarsia.workspace.files.secret_text import holds_secret
from intarsia.workspace.files.source_text import NotRead, SourceText, read_source, why_not_source
from intarsia.workspace.files.walk import Walk, distance
from intarsia.workspace.index.database import move_aside
from intarsia.workspace.index.store import Counts, FileRow, ParsedFile, Store, content_digest

PAUSE_S = 30.0
"""The pause after a full disk, or if the database cannot be opened."""
WAIT_S = 1.0
"""The wait after another process held the database: what it has read need not be read again."""
MAX_LOCKED_OPENINGS = 20
"""Two windows that make one database at once lock each other out for a moment, not for so long."""
MAX_UNCOMMITTED_S = 0.25
MAX_RESETS = 3
"""A database that is damaged again and again is on a broken disk: then it pauses each time."""

_MODULE_FILES = ("go.mod", "go.work")
_FIRST = -1  # of the queue
_MAX_FORGOTTEN = 20  # contents of one step
_DAMAGE = (sqlite3.DatabaseError, LookupError, zlib.error, msgspec.DecodeError, UnicodeError)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ParseJob:
    """A text that is not known yet."""

    root: "RootIndex"
    path: str
    text: str
    language: Language
    digest: bytes
    num_bytes: int
    mtime_ns: int


class RootIndex:
    """Knows one folder. Paths are absolute, with forward slashes."""

    def __init__(self, settings: RootSettings, database: Path) -> None:
        self.settings = settings
        self.rules = FileRules(settings, is_known_source)
        self._database = database
        self._store: Store | None = None
        self._paused_until = 0.0
        self._waits_until = 0.0  # with writing; all questions are answered
        self._walk: Walk | None = None
        self._unseen: dict[str, tuple[int, int]] | None = None  # None: not asked for yet
        self._queue: list[tuple[int, str]] = []
        self._queued: set[str] = set()
        self._texts: dict[str, str] = {}
        self._secret_sizes: set[int] = set()
        self._has_unused = False
        self._num_locked_openings = 0
        self.num_resets = 0
        self._is_paused = False
        self.fault = ""  # why it is paused, or was damaged
        self.walk_again()

    def close(self) -> None:
        if self._store is not None:
            self.ask(Store.commit)
        if self._store is not None:
            self._store.close()
            self._store = None

    # what has changed

    def walk_again(self) -> None:
        """Look at all files again, with the ignore files as they are now."""
        self.rules = FileRules(self.settings, is_known_source)
        self._walk = Walk(self.rules, near=list(self._texts))
        self._unseen = None

    def changed(self, path: str) -> None:
        """Look at a file that was created, changed or deleted, before all others."""
        name = path.rpartition("/")[2]
        is_rule_file = name in IGNORE_FILES or path.endswith("/.git/info/exclude")
        if is_rule_file or self.rules.are_read_from(path):
            self.walk_again()
        elif self.rules.why_not_secret(path) is not None:
            self.ask(lambda store: self._excluded_appeared(store, path))
        elif is_known_source(name):
            self._add(path, _FIRST)
        elif Path(path).is_dir() or self.ask(lambda it: it.has_below(self.inside(path))):
            self.walk_again()

    def open_text(self, path: str, text: str | None) -> None:
        """Use a text instead of the file; None: the file again."""
        if text is None:
            self._texts.pop(path, None)
        elif self._texts.get(path) == text:
            return
        elif self.rules.why_not(path) is not None:
            self._texts.pop(path, None)
        else:
            self._texts[path] = text
        if is_known_source(path):
            self._add(path, _FIRST)

    # what is done in one step

    @property
    def is_walking(self) -> bool:
        """Whether folders are to be listed now."""
        return self._walk is not None and not self.is_waiting

    @property
    def num_queued(self) -> int:
        """The files to be read now."""
        return 0 if self.is_waiting else len(self._queue)

    @property
    def is_waiting(self) -> bool:
        """Whether the work waits, for another process that writes or for better times."""
        return time.monotonic() < max(self._waits_until, self._paused_until)

    def walk_step(self) -> None:
        """List one more folder."""
        if self._walk is None or self.is_waiting:
            return
        if self._unseen is None:
            self._unseen = self.ask(Store.all_files)
            if self._unseen is None:  # the question has failed
                return
        if not self._walk.is_done:
            self._compare(self._walk.step(), self._unseen)
        if self._walk.is_done:
            self._end_walk(self._walk, list(self._unseen))

    def next_job(self) -> ParseJob | None:
        """Look at one queued file; return its text if it has to be parsed."""
        if not self._queue or self.is_waiting:
            return None
        _, path = heapq.heappop(self._queue)
        self._queued.discard(path)
        return self.ask(lambda store: self._look_at(store, path))

    def finished(self, job: ParseJob, parsed: ParsedFile | None, reason: str) -> None:
        """Store what was parsed, or why it could not be."""

        def write(store: Store) -> None:
            content = None
            if parsed is not None:
                content = store.add_content(job.digest, job.num_bytes, parsed)
            row = FileRow(self.inside(job.path), job.num_bytes, job.mtime_ns, content, reason)
            self._set_file(store, row)

        if self.rules.why_not(job.path) is None and not self.is_waiting:
            self.ask(write)

    def settle(self, *, is_idle: bool) -> None:
        """Commit what was written a while ago, or all of it; drop contents that are too many."""
        if self._store is None:
            return
        if is_idle and self._has_unused:
            self.ask(self._drop_unused)
        if is_idle or self._store.uncommitted_s() > MAX_UNCOMMITTED_S:
            self.ask(Store.commit)

    # what is asked

    def ask(self, question: Callable[[Store], _Answer]) -> _Answer | None:
        """Return the answer of the database, None if it has none."""
        if time.monotonic() < self._paused_until:
            return None
        try:
            if self._store is None:
                self._store = self._open_store()
            self._store.refresh()
            return question(self._store)
        except (sqlite3.OperationalError, OSError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the extended code
            if code == sqlite3.SQLITE_ERROR:  # a table is missing
                self._reset(str(error))
            elif code == sqlite3.SQLITE_BUSY and self._num_locked_openings < MAX_LOCKED_OPENINGS:
                self._wait()
            else:
                self._pause(str(error))
        except _DAMAGE as error:
            self._reset(str(error))
        return None

    def read(self, path: str) -> str | None:
        """Return the text of an indexed file as it is now, None if it may not be read."""
        row = self.ask(lambda store: store.file(self.inside(path)))
        if row is None or row.content is None or self.rules.why_not(path) is not None:
            return None
        source = self._source(path)
        if isinstance(source, NotRead):
            return None
        is_judged = (source.num_bytes, source.mtime_ns) == row[1:3] and path not in self._texts
        return source.text if is_judged or not self.why_not_text(path, source.text) else None

    def seen(self, path: str) -> tuple[Seen, ...]:
        """Return a file as it was indexed, and the ignore files as they were when it was judged."""
        row = self.ask(lambda store: store.file(self.inside(path)))
        num_bytes, mtime_ns = (0, OPEN_TEXT) if row is None else (row.num_bytes, row.mtime_ns)
        if path in self._texts:
            mtime_ns = OPEN_TEXT
        own = Seen(path=path, num_bytes=num_bytes, mtime_ns=mtime_ns)
        return (own, *self.rules.ignore_files_for(path))

    def why_not_text(self, path: str, text: str) -> str | None:
        """Return why a text is no context for other files, None if it is."""
        if (reason := why_not_source(text)) is not None:
            return reason
        is_bare = language_for_path(path).has_bare_values
        is_kept = self.settings.exclude_secrets and holds_secret(text, is_bare)
        return "holds a secret" if is_kept else None

    def counts(self) -> Counts:
        return self.ask(Store.counts) or Counts(0, 0, 0)

    def absolute(self, inside: str) -> str:
        return f"{self.rules.root.rstrip('/')}/{inside}"

    def inside(self, path: str) -> str:
        return path[len(self.rules.root) :].lstrip("/")

    def _add(self, path: str, priority: int) -> None:
        if path not in self._queued or priority == _FIRST:
            self._queued.add(path)
            heapq.heappush(self._queue, (priority, path))

    def _compare(self, files: Sequence[Seen], unseen: dict[str, tuple[int, int]]) -> None:
        near = [path.rpartition("/")[0] for path in self._texts]
        for file in files:
            known = unseen.pop(self.inside(file.path), None)
            is_same = known == (file.num_bytes, file.mtime_ns)
            if not is_same and file.path not in self._texts:
                self._add(file.path, distance(file.path.rpartition("/")[0], near))

    def _end_walk(self, walk: Walk, unseen: Sequence[str]) -> None:
        """Forget the files that the walk has not found; those that a rule excludes, at once."""
        self._walk = None
        self._secret_sizes = walk.secret_sizes
        excluded = [path for path in self._texts if self.rules.why_not(path) is not None]

        def forget(store: Store) -> None:
            for path in excluded:  # open, and perhaps not on disk
                self._texts.pop(path, None)
                self._excluded_appeared(store, path)
            for inside in unseen:
                path = self.absolute(inside)
                if path not in self._texts:
                    self._forget_file(store, inside, and_content=os.path.lexists(path))
            store.forget_contents(store.unused_contents_of_sizes(walk.secret_sizes))

        self.ask(forget)
        self._unseen = None
        self._has_unused = True

    def _excluded_appeared(self, store: Store, path: str) -> None:
        """Drop what an excluded file may have held under a name that was not excluded."""
        self._forget_file(store, self.inside(path), and_content=True)
        try:
            size = os.lstat(path).st_size
        except (OSError, ValueError):  # there is no such file
            return
        self._secret_sizes.add(size)
        store.forget_contents(store.unused_contents_of_sizes([size]))

    def _look_at(self, store: Store, path: str) -> ParseJob | None:
        inside = self.inside(path)
        if self.rules.why_not(path) is not None:
            self._excluded_appeared(store, path)
            return None
        source = self._source(path)
        if isinstance(source, NotRead) and not source.mtime_ns:
            self._forget_file(store, inside, and_content=False)
            return None
        if isinstance(source, NotRead):
            reason: str | None = source.reason
        else:
            reason = self.why_not_text(path, source.text)
        content, language = None, language_for_path(path)
        if isinstance(source, SourceText) and reason is None:
            digest = content_digest(source.text, language)
            content = store.content(digest)
            if content is None:
                return ParseJob(
                    root=self,
                    path=path,
                    text=source.text,
                    language=language,
                    digest=digest,
                    num_bytes=source.num_bytes,
                    mtime_ns=source.mtime_ns,
                )
        row = FileRow(inside, source.num_bytes, source.mtime_ns, content, reason or "")
        self._set_file(store, row)
        return None

    def _source(self, path: str) -> SourceText | NotRead:
        text = self._texts.get(path)
        if text is None:
            return read_source(path)
        num_bytes = len(text.encode("utf-8", "replace"))
        return SourceText(text=text, num_bytes=num_bytes, mtime_ns=OPEN_TEXT)

    def _set_file(self, store: Store, row: FileRow) -> None:
        before = store.file(row.path)
        store.set_file(row)
        if before is None or before.content is None or before.content == row.content:
            return
        self._has_unused = True
        is_draft = before.mtime_ns == OPEN_TEXT  # typed and gone: it will not come back
        if is_draft or row.content is None or before.num_bytes in self._secret_sizes:
            store.forget_contents([before.content])

    def _forget_file(self, store: Store, inside: str, *, and_content: bool) -> None:
        row = store.file(inside)
        if row is None:
            return
        store.remove_file(inside)
        self._has_unused = True
        is_secret = row.num_bytes in self._secret_sizes or row.mtime_ns == OPEN_TEXT
        if row.content is not None and (and_content or is_secret):
            store.forget_contents([row.content])

    def _drop_unused(self, store: Store) -> None:
        contents = store.unused_contents(_MAX_FORGOTTEN)
        store.forget_contents(contents)
        self._has_unused = bool(contents)

    def _open_store(self) -> Store:
        self._num_locked_openings += 1
        store = Store(self._database)
        self._num_locked_openings = 0
        if self._is_paused:
            self._is_paused, self.fault = False, ""
        return store

    def _wait(self) -> None:
        """Let another process write first; then look for what is still missing."""
        self._waits_until = time.monotonic() + WAIT_S
        if self._store is None:  # each try takes a while
            self._paused_until = self._waits_until
        self._start_over()

    def _pause(self, fault: str) -> None:
        """Wait with everything: no room, or no rights."""
        self.fault = f"the index of {self.rules.root} is paused: {fault}"
        self._is_paused = True
        self._paused_until = time.monotonic() + PAUSE_S
        self._drop_store()
        self._start_over()

    def _reset(self, fault: str) -> None:
        """Make the database again."""
        self.fault = f"the index of {self.rules.root} was damaged and is being rebuilt: {fault}"
        self.num_resets += 1
        self._drop_store()
        if self.num_resets > MAX_RESETS:
            self._pause(fault)
            return
        try:
            move_aside(self._database)
        except OSError as error:
            self._pause(str(error))
            return
        self._start_over()

    def _drop_store(self) -> None:
        if self._store is None:
            return
        try:
            self._store.rollback()
            self._store.close()
        except sqlite3.Error:
            pass  # it is given up anyway
        self._store = None

    def _start_over(self) -> None:
        """Walk again without asking the database, which has just failed."""
        self._walk = Walk(self.rules, near=list(self._texts))
        self._unseen = None
        for path in self._texts:
            self._add(path, _FIRST)


def is_known_source(name: str) -> bool:
    """Return whether a file's name is that of source code, or of a file that says where that is."""
    return language_for_path(name) is not PLAIN_TEXT or name.rpartition("/")[2] in _MODULE_FILES
