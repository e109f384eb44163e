"""The indexes of all opened folders as one: what the choice of context asks.

Each folder has its own database. A file of a folder inside another opened folder belongs to the
inner one. Similar passages are looked for by the rarest words first: words that many passages have
cost the most time and tell the least.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from intarsia.workspace.files.paths import RootSettings, Seen, as_posix, is_within
from intarsia.workspace.index.database import database_path, forget_unused, index_folder
from intarsia.workspace.index.reader import FoundDefinition, FoundImport, SimilarPassage
from intarsia.workspace.index.root_index import ParseJob, RootIndex
from intarsia.workspace.index.store import Store
from intarsia.workspace.symbols.symbols import FileSymbols
from intarsia.workspace.words import words_of

MAX_QUERY_WORDS = 32
MAX_LOOKED_AT = 40_000
"""Passages that have one of the words, counted once for each: about 40 ms."""
MAX_COMMON_SHARE = 0.1
"""A word that a larger share of all passages has is left out."""
_FEWEST_COMMON = 50


def passage_query(
    words: Iterable[str], num_passages: int, num_passages_with: Callable[[str], int]
) -> str:
    """Return a query of FTS5 for any of the words, "" if no word is worth searching."""
    most = max(_FEWEST_COMMON, MAX_COMMON_SHARE * num_passages)
    unique = dict.fromkeys(part for word in words for part in words_of(word))
    counted = sorted((num_passages_with(word), word) for word in unique)
    chosen: list[str] = []
    looked_at = 0
    for count, word in counted:
        if count == 0:
            continue
        looked_at += count
        if count > most or len(chosen) == MAX_QUERY_WORDS or (chosen and looked_at > MAX_LOOKED_AT):
            break
        chosen.append(f'"{word}"')
    return " OR ".join(chosen)


_COUNTS_HOLD = 0.2  # counts of words are asked again when the index has grown by this share


class IndexCounts(NamedTuple):
    """How much of the opened folders is indexed."""

    num_files: int
    num_left_out: int
    num_definitions: int
    num_queued: int  # files that are to be read
    is_walking: bool
    faults: tuple[str, ...]


class ProjectIndex:
    """Answers questions, and does the work of keeping the indexes up to date in steps."""

    def __init__(self, folder: Path | None = None) -> None:
        """``folder``: where the databases are; None: in the user's cache."""
        self._folder = index_folder() if folder is None else folder
        self._roots: list[RootIndex] = []  # innermost first
        self._texts: dict[str, str] = {}
        self._word_counts: dict[tuple[str, str], int] = {}
        self._num_counted: dict[str, int] = {}  # passages of each folder when words were counted
        forget_unused(self._folder)

    def close(self) -> None:
        for root in self._roots:
            root.close()
        self._roots = []

    # what has changed

    def open_roots(self, settings: Iterable[RootSettings]) -> None:
        """Index these folders and no others; a folder with the same settings as before is kept."""
        wanted = _without_each_other(settings)
        kept = {root.settings: root for root in self._roots if root.settings in wanted}
        for root in self._roots:
            if root.settings not in kept:
                root.close()
        self._roots = [kept.get(it) or self._opened(it) for it in wanted]

    def changed(self, path: str) -> None:
        """Look again at a file or folder that was created, changed or deleted."""
        path = as_posix(path)
        holder = self._root(path)
        for root in self._roots:
            if root is holder or root.rules.are_read_from(path):
                root.changed(path)

    def open_text(self, path: str, text: str | None) -> None:
        """Use an open file's text, saved or not; None when it is closed."""
        path = as_posix(path)
        if text is None:
            self._texts.pop(path, None)
        else:
            self._texts[path] = text
        if (root := self._root(path)) is not None:
            root.open_text(path, text)

    def walk_again(self) -> None:
        """Look for changes in all folders."""
        for root in self._roots:
            root.walk_again()

    # what is done in one step

    def walk_step(self) -> bool:
        """List one more folder; return whether there was one to list."""
        walking = next((root for root in self._roots if root.is_walking), None)
        if walking is not None:
            walking.walk_step()
        return walking is not None

    def next_job(self) -> ParseJob | None:
        """Look at one queued file; return its text if it has to be parsed."""
        for root in self._roots:
            if root.num_queued:
                return root.next_job()
        return None

    @property
    def num_queued(self) -> int:
        return sum(root.num_queued for root in self._roots)

    @property
    def is_walking(self) -> bool:
        return any(root.is_walking for root in self._roots)

    @property
    def is_waiting(self) -> bool:
        """Whether a folder's work waits for another process that writes."""
        return any(root.is_waiting and not root.fault for root in self._roots)

    def settle(self, *, is_idle: bool) -> None:
        """Commit what was written."""
        for root in self._roots:
            root.settle(is_idle=is_idle)

    def counts(self) -> IndexCounts:
        counts = [root.counts() for root in self._roots]
        return IndexCounts(
            num_files=sum(it.num_files for it in counts),
            num_left_out=sum(it.num_left_out for it in counts),
            num_definitions=sum(it.num_definitions for it in counts),
            num_queued=self.num_queued,
            is_walking=self.is_walking,
            faults=tuple(root.fault for root in self._roots if root.fault),
        )

    # what is asked

    def symbols_of(self, path: str) -> FileSymbols | None:
        """Return what a file defines and imports, None if it is not indexed."""
        path = as_posix(path)
        root = self._root(path)
        if root is None or root.rules.why_not(path) is not None:  # the walk may not know it yet
            return None
        return root.ask(lambda it: it.symbols(root.inside(path)))

    def definitions_named(self, name: str, *, limit: int) -> Sequence[FoundDefinition]:
        """Return definitions of this name, at most ``limit`` of each folder."""
        found: list[FoundDefinition] = []
        for root in self._roots:
            here = root.ask(lambda it: it.definitions(name, limit)) or []
            found += [
                FoundDefinition(path=root.absolute(inside), definition=definition)
                for inside, definition in here
                if root.rules.why_not_secret(root.absolute(inside)) is None
            ]
        return found

    def imports_of(self, name: str, *, path: str, limit: int) -> Sequence[FoundImport]:
        """Return how files of the opened folder that ``path`` is in import this name."""
        root = self._root(path)
        if root is None:
            return []
        return [
            replace(it, path=root.absolute(it.path))
            for it in root.ask(lambda store: store.imports_of(name, limit)) or ()
            if root.rules.why_not_secret(root.absolute(it.path)) is None
        ]

    def files_named(self, name: str) -> Sequence[str]:
        """Return the paths of files with this name without its extension, in any folder."""
        return [
            root.absolute(inside)
            for root in self._roots
            for inside in root.ask(lambda it: it.paths_with_stem(name)) or ()
        ]

    def files_with(self, name: str, *, path: str, limit: int) -> Sequence[str]:
        """Return files of the opened folder that ``path`` is in that may have an identifier."""
        root = self._root(path)
        if root is None:
            return []
        query = " AND ".join(f'"{word}"' for word in words_of(name))
        found = root.ask(lambda store: store.paths_with(query, limit)) or ()
        return [root.absolute(it) for it in found]

    def files_in(self, folder: str) -> Sequence[str]:
        """Return the paths of the indexed files of a folder, without those of its subfolders."""
        folder = as_posix(folder).rstrip("/") + "/"
        root = self._root(folder + "_")
        if root is None:
            return []
        inside = root.ask(lambda it: it.paths_in_folder(root.inside(folder))) or ()
        return [root.absolute(path) for path in inside]

    def root_of(self, path: str) -> str | None:
        """Return the opened folder that a file is in, None if it is in none."""
        root = self._root(path)
        return None if root is None else root.rules.root

    def similar(self, words: Sequence[str], *, path: str, limit: int) -> Sequence[SimilarPassage]:
        """Return passages of other files of a file's folder with these words, best first.

        Other folders are not asked: their scores would not compare, and theirs may be shown to no
        file of this one.
        """
        root = self._root(path)
        if root is None:
            return []
        return [
            replace(it, path=root.absolute(it.path))
            for it in self._similar(root, words, root.inside(as_posix(path)), limit)
        ]

    def may_read(self, path: str) -> bool:
        """Whether a file is in an opened folder, and no rule excludes it."""
        path = as_posix(path)
        root = self._root(path)
        return root is not None and root.rules.why_not(path) is None

    def may_show(self, path: str, text: str) -> bool:
        """Whether a text of a file that may be read is context for other files."""
        root = self._root(path)
        return self.may_read(path) and root is not None and not root.why_not_text(path, text)

    def read(self, path: str) -> str | None:
        """Return the text of an indexed file as it is now, None if it may not or cannot be read."""
        path = as_posix(path)
        root = self._root(path)
        return None if root is None else root.read(path)

    def seen(self, path: str) -> tuple[Seen, ...]:
        """Return a file as it was indexed, and the ignore files as they were when it was judged."""
        path = as_posix(path)
        root = self._root(path)
        return () if root is None else root.seen(path)

    def _similar(
        self, root: RootIndex, words: Sequence[str], inside: str, limit: int
    ) -> list[SimilarPassage]:
        def find(store: Store) -> list[SimilarPassage]:
            query = passage_query(words, num_passages, lambda it: self._count(root, store, it))
            return store.matching(query, limit, not_in=inside) if query else []

        num_passages = root.ask(Store.num_passages) or 0
        folder = root.rules.root
        num_counted = self._num_counted.get(folder, 0)
        if abs(num_passages - num_counted) > _COUNTS_HOLD * num_counted:
            self._word_counts = {
                key: count for key, count in self._word_counts.items() if key[0] != folder
            }
            self._num_counted[folder] = num_passages
        return root.ask(find) or []

    def _count(self, root: RootIndex, store: Store, word: str) -> int:
        """Return how many passages have a word; counting reads its whole list, so it is kept."""
        key = (root.rules.root, word)
        if key not in self._word_counts:
            self._word_counts[key] = store.num_passages_with(word)
        return self._word_counts[key]

    def _root(self, path: str) -> RootIndex | None:
        path = as_posix(path)
        return next((root for root in self._roots if root.rules.holds(path)), None)

    def _opened(self, settings: RootSettings) -> RootIndex:
        # What was judged with secrets allowed is asked by nobody else.
        name = settings.path if settings.exclude_secrets else f"{settings.path}\0with secrets"
        root = RootIndex(settings, database_path(name, self._folder))
        for path, text in self._texts.items():
            if root.rules.holds(path):
                root.open_text(path, text)
        return root


def _without_each_other(settings: Iterable[RootSettings]) -> list[RootSettings]:
    """Return the folders innermost first, the inner ones excluded from the outer ones."""
    by_path = {as_posix(it.path): it for it in settings}
    return [
        replace(
            one,
            path=path,
            excluded_paths=(
                *one.excluded_paths,
                *(inner for inner in by_path if inner != path and is_within(inner, path)),
            ),
        )
        for path, one in sorted(by_path.items(), key=lambda it: len(it[0]), reverse=True)
    ]
