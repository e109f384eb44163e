"""A damaged, foreign or newer database is rebuilt, and no question to the index fails."""

import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from intarsia.workspace.index.database import SCHEMA_VERSION, database_path, open_database
from intarsia.workspace.index.own_index import OwnIndex

Opened = Callable[..., OwnIndex]


@pytest.fixture
def database(root: Path, tmp_path: Path, open_roots: Opened) -> Path:
    """The closed database of a workspace with some files."""
    for number in range(40):
        (root / f"m{number}.py").write_text(f"def f_{number}(argument):\n    return {number}\n")
    open_roots(root).close()
    return database_path(root.as_posix(), tmp_path / "databases")


def run_in(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(statement)


def be_another_programs(database: Path) -> None:
    database.unlink()
    run_in(database, "CREATE TABLE theirs (a)")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut off": lambda it: it.write_bytes(it.read_bytes()[:6_000]),
    "older": lambda it: run_in(it, "PRAGMA user_version = 0"),
    "newer": lambda it: run_in(it, f"PRAGMA user_version = {SCHEMA_VERSION + 1}"),
    "no database": lambda it: it.write_bytes(b"not a database at all" * 500),
    "another program's": be_another_programs,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_database_that_is_none_of_ours_is_replaced(
    root: Path, database: Path, open_roots: Opened, damage: str
):
    """What may be another program's is moved aside."""
    DAMAGES[damage](database)
    own = open_roots(root)
    for number in (0, 17, 39):
        assert len(own.index.definitions_named(f"f_{number}", limit=3)) == 1
    assert own.index.counts().num_files == 40
    kept = {"no database": b"not a database", "another program's": b"theirs"}.get(damage)
    assert kept is None or kept in Path(f"{database}.damaged").read_bytes()


def test_a_missing_table_is_made_again(root: Path, database: Path, open_roots: Opened):
    run_in(database, "DROP TABLE definitions")
    own = open_roots(root)
    own.index.definitions_named("f_1", limit=1)  # only now it is noticed
    own.update()
    own.index.walk_again()
    own.update()
    assert own.index.counts().num_files == 40


@pytest.mark.parametrize("seed", range(6))
def test_bytes_that_were_overwritten_never_fail_a_caller(
    root: Path, database: Path, open_roots: Opened, seed: int
):
    chosen = random.Random(seed)
    data = bytearray(database.read_bytes())
    for _ in range(60):
        data[chosen.randrange(100, len(data))] = chosen.randrange(256)
    database.write_bytes(data)
    own = open_roots(root)
    for number in range(40):
        own.index.symbols_of(str(root / f"m{number}.py"))
        own.index.definitions_named(f"f_{number}", limit=3)
        own.index.similar(["argument"], path=str(root / "_.py"), limit=3)
        (root / f"m{number}.py").write_text(f"def g_{number}(other): pass\n")
        own.index.changed(str(root / f"m{number}.py"))
    own.update()


def test_two_windows_may_have_the_same_index(root: Path, database: Path, open_roots: Opened):
    one, other = open_roots(root), open_roots(root)
    (root / "new.py").write_text("def fresh(): pass\n")
    for own in (one, other):
        own.index.changed(str(root / "new.py"))
        own.update()
        assert len(own.index.definitions_named("fresh", limit=3)) == 1


def test_indexes_that_were_not_used_for_long_are_deleted(
    root: Path, database: Path, open_roots: Opened
):
    old, young = database.with_name("old.sqlite"), database.with_name("young.sqlite")
    for path in (old, young):
        open_database(path).close()
    os.utime(old, (0, 0))
    open_roots(root)
    assert not old.exists()
    assert young.exists()
