"""Opens the SQLite database of one folder; a damaged or foreign one is moved aside.

It is in the user's cache, never in the workspace, and only the user can read it.
"""

import os
import sqlite3
import stat
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import platformdirs

SCHEMA_VERSION = 4
"""Raise it when tables, symbols, words or secrets change: an older index is made again."""

KEEP_UNUSED_DAYS = 60

_APPLICATION_ID = 0x1274A51A
_BUSY_TIMEOUT_S = 0.5
"""Another process' transaction is mostly shorter; after that the writer tries again later."""
_SIDE_FILES = ("", "-wal", "-shm")
_SCHEMA = """
CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    num_bytes INTEGER NOT NULL,
    num_definitions INTEGER NOT NULL,
    symbols BLOB NOT NULL,
    words BLOB NOT NULL
);
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    stem TEXT NOT NULL,
    num_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content INTEGER,
    reason TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX files_by_stem ON files (stem);
CREATE INDEX files_by_content ON files (content);
CREATE TABLE definitions (
    name TEXT NOT NULL,
    content INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (name, content, position)
) WITHOUT ROWID;
CREATE TABLE imports (
    local TEXT NOT NULL,
    content INTEGER NOT NULL,
    module TEXT NOT NULL,
    name TEXT NOT NULL,
    alias TEXT NOT NULL,
    kind TEXT NOT NULL,
    is_type INTEGER NOT NULL,
    PRIMARY KEY (local, content, module, name, kind)
) WITHOUT ROWID;
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    content INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL
);
CREATE INDEX passages_by_content ON passages (content);
CREATE VIRTUAL TABLE passage_words USING fts5 (words, content = '', tokenize = 'ascii');
CREATE VIRTUAL TABLE word_counts USING fts5vocab (passage_words, 'row');
"""


def index_folder() -> Path:
    """Return the folder of all indexes; INTARSIA_CACHE_DIR overrides the user's cache folder."""
    override = os.environ.get("INTARSIA_CACHE_DIR")
    cache = Path(override).expanduser() if override else platformdirs.user_cache_path("intarsia")
    return cache / "index"


def database_path(root: str, folder: Path) -> Path:
    """Return the database of an opened folder; its name is a digest of the folder's path."""
    digest = blake2b(root.encode("utf-8", "surrogatepass"), digest_size=12)
    return folder / f"{digest.hexdigest()}.sqlite"


def open_database(path: Path) -> sqlite3.Connection:
    """Return a connection to the index in this file, made if need be.

    Raises OSError or ``sqlite3.Error`` where there is no room, or no right to write.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_own(path.parent)
    with suppress(OSError):  # on a file system without permissions
        path.parent.chmod(0o700)
    try:
        return _open(path)
    except sqlite3.OperationalError:  # no room, no rights, or locked by one that makes it
        return _open(path)
    except sqlite3.DatabaseError:
        move_aside(path)
        return _open(path)


def _require_own(folder: Path) -> None:
    """Raise PermissionError where another user could read the index, or put another there."""
    if os.name == "nt":
        return
    status, around = folder.lstat(), folder.parent.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise PermissionError(f"{folder} is a link: the index needs a folder of its own")
    if status.st_uid not in (0, os.geteuid()):
        raise PermissionError(f"{folder} belongs to another user")
    if around.st_mode & stat.S_IWOTH and not around.st_mode & stat.S_ISVTX:
        raise PermissionError(f"{folder.parent} can be changed by all users")


def move_aside(path: Path) -> None:
    """Rename a damaged database, so that one can be made in its place; the last one is kept."""
    for suffix in _SIDE_FILES:
        with suppress(FileNotFoundError):
            Path(f"{path}{suffix}").replace(f"{path}.damaged{suffix}")


def forget_unused(folder: Path) -> None:
    """Delete the indexes that were last written long ago."""
    before = time.time() - KEEP_UNUSED_DAYS * 24 * 3600
    with suppress(OSError):
        for path in folder.glob("*.sqlite*"):
            if path.stat().st_mtime < before:
                path.unlink()


def _open(path: Path) -> sqlite3.Connection:
    # The mode is that of the first creation; SQLite gives its side files the same.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(
        path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of a new database. Raises ``sqlite3.DatabaseError`` for a foreign one."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -8192")
    connection.execute("PRAGMA journal_size_limit = 4194304")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA secure_delete = ON")
    if _is_new(connection):
        connection.execute("BEGIN IMMEDIATE")
        if _is_new(connection):  # another window may have made it meanwhile
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    application = _number(connection, "application_id")
    version = _number(connection, "user_version")
    if (application, version) != (_APPLICATION_ID, SCHEMA_VERSION):
        raise sqlite3.DatabaseError(f"an index of version {version}, not {SCHEMA_VERSION}")


def _is_new(connection: sqlite3.Connection) -> bool:
    num_tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return num_tables == 0 and _number(connection, "application_id") == 0


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
