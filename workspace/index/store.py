"""Rows of one folder's index: which file has which content, and what each content holds.

That is a text's symbols, and the words of its passages: 12 to 20 lines each; where a definition
starts within these bounds, the next one begins. It is kept by the content's digest, also while no
file has it: switching to another branch and back parses nothing again. Paths are relative to the
folder. Source text is not stored. Raises ``sqlite3.Error``.
"""

import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import msgspec

from intarsia.infill.languages import Language
from intarsia.workspace.index.database import open_database
from intarsia.workspace.index.reader import FoundImport, SimilarPassage
from intarsia.workspace.symbols.symbols import Definition, FileSymbols, given_names
from intarsia.workspace.words import identifiers, words_of

FEWEST_LINES = 12
MOST_LINES = 20

_MAX_WORDS = 400
"""Words of one passage; a table of data has more and means nothing."""
_MAX_REPEATS = 4
"""A word counts at most this often: BM25 gains little from more."""
_MAX_PASSAGES = 1_000
_MAX_WORD_CHARS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """Lines of a text, and their words in lower case, separated by spaces."""

    start_line: int  # 0-based
    end_line: int  # exclusive
    words: str


def cut_passages(text: str, starts: Sequence[int]) -> list[Passage]:
    """Return the passages of a text in order; ``starts`` are the first lines of definitions."""
    lines = text.split("\n")
    passages = []
    for start, end in _bounds(len(lines), frozenset(starts)):
        words = passage_words("\n".join(lines[start:end]))
        if words:
            passages.append(Passage(start_line=start, end_line=end, words=" ".join(words)))
        if len(passages) == _MAX_PASSAGES:
            break
    return passages


def passage_words(text: str) -> list[str]:
    """Return the words of all identifiers of a text, keywords left out."""
    counts = Counter(word for name in identifiers(text) for word in words_of(name))
    words = [word for word, n in counts.items() for _ in range(min(n, _MAX_REPEATS))]
    return [word for word in words if len(word) <= _MAX_WORD_CHARS][:_MAX_WORDS]


def _bounds(num_lines: int, starts: frozenset[int]) -> Iterator[tuple[int, int]]:
    start = 0
    while start < num_lines:
        most = min(start + MOST_LINES, num_lines)
        within = range(start + FEWEST_LINES, most)
        end = next((line for line in within if line in starts), most)
        yield start, end
        start = end


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedFile:
    """The symbols and passages of a text."""

    symbols: FileSymbols
    passages: list[Passage]


def with_passages(text: str, symbols: FileSymbols) -> ParsedFile:
    """Return a text's symbols with its passages, cut where definitions start."""
    starts = [it.start_line for it in symbols.definitions if it.kind != "field"]
    return ParsedFile(symbols=symbols, passages=cut_passages(text, starts))


def content_digest(text: str, language: Language) -> bytes:
    """Return 16 bytes that name a text in a language: the same text is parsed once."""
    digest = blake2b(language.id.encode() + b"\0", digest_size=16)
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


MAX_UNUSED_CONTENTS = 5_000
"""Contents without a file that are kept at most, or as many as there are files."""

_MAX_COPIES = 3  # paths with the same content that one search names
_SYMBOLS_CACHE_SIZE = 256
_decode_symbols = msgspec.msgpack.Decoder(FileSymbols).decode


class FileRow(NamedTuple):
    """One known file. Without ``content`` it is not indexed; ``reason`` says why."""

    path: str
    num_bytes: int
    mtime_ns: int
    content: int | None = None
    reason: str = ""


class Counts(NamedTuple):
    """The counts of one folder. ``num_left_out`` files were read and are not source code."""

    num_files: int
    num_left_out: int
    num_definitions: int


class Store:
    """One database. Not for several threads at once."""

    def __init__(self, path: Path) -> None:
        self._database = open_database(path)
        self._begun_at = 0.0
        self._version = 0
        self._symbols = lru_cache(_SYMBOLS_CACHE_SIZE)(self._load_symbols)

    def close(self) -> None:
        self._database.close()

    def refresh(self) -> None:
        """Forget what was read before another process wrote: numbers of contents come again."""
        (version,) = self._database.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._symbols.cache_clear()
            self._version = version

    def begin(self) -> None:
        """Begin a transaction if none is open. Reads see what it has written at once."""
        if not self._database.in_transaction:
            self._database.execute("BEGIN IMMEDIATE")
            self._begun_at = time.monotonic()

    def commit(self) -> None:
        if self._database.in_transaction:
            self._database.execute("COMMIT")

    def rollback(self) -> None:
        """Forget what was written since ``begin``."""
        if self._database.in_transaction:
            self._database.execute("ROLLBACK")
        self._symbols.cache_clear()

    def uncommitted_s(self) -> float:
        """Return the age of the open transaction, 0 if there is none."""
        return time.monotonic() - self._begun_at if self._database.in_transaction else 0.0

    def _row(self, query: str, *values: object) -> Any:
        """Return the first row of an answer, None if there is none."""
        return self._database.execute(query, values).fetchone()

    # files

    def file(self, path: str) -> FileRow | None:
        row = self._row(
            "SELECT path, num_bytes, mtime_ns, content, reason FROM files WHERE path = ?", path
        )
        return None if row is None else FileRow(*row)

    def all_files(self) -> dict[str, tuple[int, int]]:
        """Return size and time of every known file, by its path."""
        rows = self._database.execute("SELECT path, num_bytes, mtime_ns FROM files")
        return {path: (num_bytes, mtime_ns) for path, num_bytes, mtime_ns in rows}

    def has_below(self, folder: str) -> bool:
        below = "SELECT 1 FROM files WHERE path > ? AND path < ? LIMIT 1"
        return self._row(below, f"{folder}/", f"{folder}0") is not None

    def set_file(self, row: FileRow) -> None:
        self.begin()
        values = (row.path, PurePosixPath(row.path).stem, *row[1:])
        self._database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)", values)

    def remove_file(self, path: str) -> None:
        self.begin()
        self._database.execute("DELETE FROM files WHERE path = ?", (path,))

    # contents

    def content(self, digest: bytes) -> int | None:
        """Return the number of a content that is known already."""
        row = self._row("SELECT id FROM contents WHERE digest = ?", digest)
        return None if row is None else int(row[0])

    def add_content(self, digest: bytes, num_bytes: int, parsed: ParsedFile) -> int:
        """Add what a content holds, and return its number."""
        self.begin()  # before it is looked for: another process may have added it
        if (known := self.content(digest)) is not None:
            return known
        words = "\n".join(passage.words for passage in parsed.passages)
        content = self._database.execute(
            "INSERT INTO contents (digest, num_bytes, num_definitions, symbols, words)"
            " VALUES (?, ?, ?, ?, ?)",
            (
                digest,
                num_bytes,
                len(parsed.symbols.definitions),
                _packed(msgspec.msgpack.encode(parsed.symbols)),
                _packed(words.encode()),
            ),
        ).lastrowid
        assert content is not None
        self._database.executemany(
            "INSERT INTO definitions VALUES (?, ?, ?)", _definition_rows(content, parsed.symbols)
        )
        self._database.executemany(
            "INSERT OR IGNORE INTO imports VALUES (?, ?, ?, ?, ?, ?, ?)",
            _import_rows(content, parsed.symbols),
        )
        for passage in parsed.passages:
            row = self._database.execute(
                "INSERT INTO passages (content, start_line, end_line) VALUES (?, ?, ?)",
                (content, passage.start_line, passage.end_line),
            ).lastrowid
            self._database.execute(
                "INSERT INTO passage_words (rowid, words) VALUES (?, ?)", (row, passage.words)
            )
        return content

    def forget_contents(self, contents: Iterable[int]) -> None:
        """Delete all rows of these contents, unless a file has them."""
        self.begin()
        for content in contents:
            if self._row("SELECT 1 FROM files WHERE content = ? LIMIT 1", content) is None:
                self._forget(content)

    def unused_contents(self, limit: int) -> list[int]:
        """Return some of the contents that no file has and that are too many, oldest first."""
        one = self._database.execute(
            "SELECT (SELECT count(*) FROM contents),"
            " (SELECT count(DISTINCT content) FROM files WHERE content IS NOT NULL)"
        ).fetchone()
        num_unused = one[0] - one[1]
        too_many = num_unused - max(MAX_UNUSED_CONTENTS, one[1])
        return self._unused("1", (), min(limit, too_many)) if too_many > 0 else []

    def unused_contents_of_sizes(self, sizes: Iterable[int]) -> list[int]:
        """Return the contents that no file has and that have one of these sizes."""
        found = []
        for size in sizes:
            found += self._unused("num_bytes = ?", (size,), 1_000)
        return found

    def _unused(self, condition: str, values: tuple[int, ...], limit: int) -> list[int]:
        rows = self._database.execute(
            f"SELECT id FROM contents WHERE {condition} AND NOT EXISTS"
            " (SELECT 1 FROM files WHERE files.content = contents.id) ORDER BY id LIMIT ?",
            (*values, limit),
        )
        return [content for (content,) in rows]

    def _forget(self, content: int) -> None:
        row = self._row("SELECT words FROM contents WHERE id = ?", content)
        if row is None:
            return
        passages = self._database.execute(
            "SELECT id FROM passages WHERE content = ? ORDER BY id", (content,)
        ).fetchall()
        # An index without the text itself is told what it had indexed.
        for (passage,), words in zip(
            passages, zlib.decompress(row[0]).decode().split("\n"), strict=False
        ):
            self._database.execute(
                "INSERT INTO passage_words (passage_words, rowid, words) VALUES ('delete', ?, ?)",
                (passage, words),
            )
        self._database.execute("DELETE FROM passages WHERE content = ?", (content,))
        symbols = self._load_symbols(content)
        self._database.executemany(
            "DELETE FROM definitions WHERE name = ? AND content = ? AND position = ?",
            _definition_rows(content, symbols),
        )
        self._database.executemany(
            "DELETE FROM imports WHERE local = ? AND content = ?",
            {row[:2] for row in _import_rows(content, symbols)},
        )
        self._database.execute("DELETE FROM contents WHERE id = ?", (content,))
        self._symbols.cache_clear()

    # what is asked

    def symbols(self, path: str) -> FileSymbols | None:
        """Return what a file defines and imports, None if it is not indexed."""
        row = self.file(path)
        return None if row is None or row.content is None else self._symbols(row.content)

    def definitions(self, name: str, limit: int) -> list[tuple[str, Definition]]:
        """Return definitions of this name, each with the path of its file."""
        rows = self._database.execute(
            "SELECT files.path, definitions.content, definitions.position FROM definitions"
            " JOIN files ON files.content = definitions.content WHERE definitions.name = ?"
            " ORDER BY files.path, definitions.position LIMIT ?",
            (name, limit),
        ).fetchall()
        return [
            (path, self._symbols(content).definitions[position]) for path, content, position in rows
        ]

    def imports_of(self, name: str, limit: int) -> list[FoundImport]:
        """Return how files import what they call by this name."""
        rows = self._database.execute(
            "SELECT files.path, module, imports.name, alias, kind, is_type FROM imports"
            " JOIN files ON files.content = imports.content WHERE local = ? LIMIT ?",
            (name, limit),
        )
        return [
            FoundImport(path, module, imported, local, kind, bool(is_type))
            for path, module, imported, local, kind, is_type in rows
        ]

    def paths_with_stem(self, stem: str) -> list[str]:
        """Return the indexed files with this name without its extension."""
        rows = self._database.execute(
            "SELECT path FROM files WHERE stem = ? AND content IS NOT NULL ORDER BY path", (stem,)
        )
        return [path for (path,) in rows]

    def paths_with(self, query: str, limit: int) -> list[str]:
        """Return the indexed files with a passage that matches a query of FTS5; "": all files."""
        matching = (
            "IN (SELECT content FROM passages WHERE id IN"
            " (SELECT rowid FROM passage_words WHERE passage_words MATCH ?))"
        )
        rows = self._database.execute(
            f"SELECT path FROM files WHERE content {matching if query else 'IS NOT NULL'}"
            " ORDER BY path LIMIT ?",
            (query, limit) if query else (limit,),
        )
        return [path for (path,) in rows]

    def paths_in_folder(self, folder: str) -> list[str]:
        """Return the indexed files of a folder; ``folder`` ends with a slash, or is ""."""
        rows = self._database.execute(
            "SELECT path FROM files WHERE path >= ? AND path < ? AND content IS NOT NULL"
            " AND instr(substr(path, ?), '/') = 0 ORDER BY path",
            (folder, folder[:-1] + "0" if folder else "\U0010ffff", len(folder) + 1),
        )
        return [path for (path,) in rows]

    def matching(self, query: str, limit: int, *, not_in: str) -> list[SimilarPassage]:
        """Return the passages of all files but one that match a query of FTS5, by BM25."""
        known = self.file(not_in)
        own = None if known is None else known.content
        (num_own,) = self._database.execute(
            "SELECT count(*) FROM passages WHERE content = ?", (own,)
        ).fetchone()
        rows = self._database.execute(
            "SELECT passages.content, passages.start_line, passages.end_line, found.rank FROM"
            " (SELECT rowid, rank FROM passage_words WHERE passage_words MATCH ?"
            "  ORDER BY rank LIMIT ?) AS found"
            " JOIN passages ON passages.id = found.rowid ORDER BY found.rank",
            (query, 3 * limit + 10 + num_own),
        ).fetchall()
        found = [
            SimilarPassage(path=path, start_line=start, end_line=end, score=-rank)
            for content, start, end, rank in rows
            for path in self._paths_of(content)
            if path != not_in
        ]
        return found[:limit]

    def num_passages_with(self, word: str) -> int:
        row = self._row("SELECT doc FROM word_counts WHERE term = ?", word)
        return 0 if row is None else int(row[0])

    def num_passages(self) -> int:
        """Return the highest number of a passage: near enough to their count."""
        row = self._database.execute("SELECT max(id) FROM passages").fetchone()
        return int(row[0] or 0)

    def counts(self) -> Counts:
        row = self._database.execute(
            "SELECT count(files.content), count(*) - count(files.content),"
            " coalesce(sum(contents.num_definitions), 0)"
            " FROM files LEFT JOIN contents ON contents.id = files.content"
        ).fetchone()
        return Counts(*row)

    def _paths_of(self, content: int) -> Sequence[str]:
        rows = self._database.execute(
            "SELECT path FROM files WHERE content = ? LIMIT ?", (content, _MAX_COPIES)
        )
        return [path for (path,) in rows]

    def _load_symbols(self, content: int) -> FileSymbols:
        row = self._row("SELECT symbols FROM contents WHERE id = ?", content)
        return FileSymbols() if row is None else _decode_symbols(zlib.decompress(row[0]))


def _definition_rows(content: int, symbols: FileSymbols) -> list[tuple[str, int, int]]:
    return [(it.name, content, position) for position, it in enumerate(symbols.definitions)]


def _import_rows(
    content: int, symbols: FileSymbols
) -> list[tuple[str, int, str, str, str, str, bool]]:
    return [(it.first, content, *it[1:]) for it in given_names(symbols)]


def _packed(data: bytes) -> bytes:
    """Return a quarter to a sixth of the data, at the fastest level."""
    return zlib.compress(data, 1)
