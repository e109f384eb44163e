"""A damaged database is rebuilt; passages, words that find them, frames between processes."""

import io
import itertools
import os
import random
import sqlite3
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.workspace.index import database as database_module
from intarsia.workspace.index import root_index
from intarsia.workspace.index.database import SCHEMA_VERSION, database_path, open_database
from intarsia.workspace.index.frames import MAX_FRAME_BYTES, FrameError, read_frame, to_frame
from intarsia.workspace.index.project_index import MAX_LOOKED_AT, MAX_QUERY_WORDS, passage_query
from intarsia.workspace.index.store import FEWEST_LINES, MOST_LINES, cut_passages, passage_words


@pytest.fixture
def database(root: Path, tmp_path: Path, open_roots) -> Path:
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
def test_a_database_that_is_none_of_ours_is_replaced(root, database, open_roots, damage):
    """What may be another program's is moved aside."""
    DAMAGES[damage](database)
    own = open_roots(root)
    for number in (0, 17, 39):
        assert len(own.index.definitions_named(f"f_{number}", limit=3)) == 1
    assert own.index.counts().num_files == 40
    kept = {"no database": b"not a database", "another program's": b"theirs"}.get(damage)
    assert kept is None or kept in Path(f"{database}.damaged").read_bytes()


@pytest.fixture
def locked(tmp_path: Path, root: Path) -> Iterator[sqlite3.Connection]:
    """Another window that is making the same database."""
    (root / "a.py").write_text("def f(): pass\n")
    (tmp_path / "databases").mkdir(mode=0o700)
    database = database_path(root.as_posix(), tmp_path / "databases")
    with closing(sqlite3.connect(database, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield other


def test_a_database_that_another_window_makes_first_is_opened(tmp_path, monkeypatch):
    path, is_new, tries = tmp_path / "databases" / "a.sqlite", database_module._is_new, []

    def made_meanwhile(connection: sqlite3.Connection) -> bool:
        found = is_new(connection)
        monkeypatch.setattr(database_module, "_is_new", is_new)
        open_database(path).close()
        return found

    def opened(path: Path, *, _open=database_module._open) -> sqlite3.Connection:
        tries.append(path)
        return _open(path)

    monkeypatch.setattr(database_module, "_is_new", made_meanwhile)
    monkeypatch.setattr(database_module, "_open", opened)
    with closing(open_database(path)) as connection:
        assert connection.execute("SELECT count(*) FROM files").fetchone() == (0,)
    assert len(tries) == 2  # once each


def test_a_database_that_another_window_is_making_is_waited_for(root, locked, open_roots):
    timer = threading.Timer(2.5, locked.rollback)  # longer than two tries
    timer.start()
    own = open_roots(root)
    timer.join()
    counts = own.index.counts()
    assert (counts.num_files, counts.faults) == (1, ())


def test_a_database_that_stays_locked_is_a_fault_until_it_opens(
    root, locked, open_roots, monkeypatch
):
    monkeypatch.setattr(root_index, "MAX_LOCKED_OPENINGS", 1)
    monkeypatch.setattr(root_index, "PAUSE_S", 0.5)
    own = open_roots(root)
    assert "is paused: database is locked" in own.index.counts().faults[0]
    locked.rollback()
    until = time.monotonic() + 30
    while own.index.counts().faults and time.monotonic() < until:
        pass
    own.update()
    counts = own.index.counts()
    assert (counts.num_files, counts.faults) == (1, ())


def test_a_missing_table_is_made_again(root: Path, database: Path, open_roots):
    run_in(database, "DROP TABLE definitions")
    own = open_roots(root)
    own.index.definitions_named("f_1", limit=1)  # only now it is noticed
    own.update()
    own.index.walk_again()
    own.update()
    assert own.index.counts().num_files == 40


@pytest.mark.parametrize("seed", range(6))
def test_bytes_that_were_overwritten_never_fail_a_caller(root, database, open_roots, seed):
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


def test_two_windows_may_have_the_same_index(root: Path, database: Path, open_roots):
    one, other = open_roots(root), open_roots(root)
    (root / "new.py").write_text("def fresh(): pass\n")
    for own in (one, other):
        own.index.changed(str(root / "new.py"))
        own.update()
        assert len(own.index.definitions_named("fresh", limit=3)) == 1


def test_indexes_that_were_not_used_for_long_are_deleted(root, database, open_roots):
    old, young = database.with_name("old.sqlite"), database.with_name("young.sqlite")
    for path in (old, young):
        open_database(path).close()
    os.utime(old, (0, 0))
    open_roots(root)
    assert not old.exists()
    assert young.exists()


def numbered(num_lines: int) -> str:
    return "\n".join(f"word_{chr(97 + n % 26)}xyz = 1" for n in range(num_lines))


def test_a_passage_ends_where_a_definition_starts():
    bounds = [(it.start_line, it.end_line) for it in cut_passages(numbered(50), [3, 14, 33, 40])]
    assert bounds == [(0, 14), (14, 33), (33, 50)]


def test_without_definitions_passages_have_the_greatest_length():
    bounds = [(it.start_line, it.end_line) for it in cut_passages(numbered(45), [])]
    assert bounds == [(0, 20), (20, 40), (40, 45)]


@given(num_lines=st.integers(0, 200), starts=st.lists(st.integers(0, 200)))
def test_passages_follow_each_other_within_the_bounds(num_lines: int, starts: list[int]):
    passages = cut_passages(numbered(num_lines), starts)
    assert all(one.end_line == other.start_line for one, other in itertools.pairwise(passages))
    assert all(FEWEST_LINES <= it.end_line - it.start_line <= MOST_LINES for it in passages[:-1])
    assert sum(it.end_line - it.start_line for it in passages) == num_lines


def test_the_words_are_those_of_the_identifiers_without_keywords():
    words = passage_words("def parseHttpHeader(raw_lines):\n    return raw_lines\n")
    assert sorted(set(words)) == ["header", "http", "line", "parse", "raw"]
    assert words.count("raw") == 2


def test_a_word_counts_a_few_times_and_a_passage_has_not_too_many():
    assert passage_words("total " * 50) == ["total"] * 4
    letters = "abcdefghijklmnopqrstuvwxyz"
    many = " ".join(f"{one}{other}xq" for one in letters for other in letters)
    assert len(passage_words(many)) == 400
    assert passage_words("a" * 41) == []


def test_lines_without_words_make_no_passage():
    assert cut_passages("\n" * 30, []) == []
    assert cut_passages("", []) == []


def query(words: list[str], counts: dict[str, int], num_passages: int = 10_000) -> list[str]:
    found = passage_query(words, num_passages, lambda word: counts.get(word, 0))
    return [word.strip('"') for word in found.split(" OR ") if word]


def test_rare_words_come_first_and_unknown_ones_are_left_out():
    counts = {"header": 300, "parse": 900, "cookie": 2}
    assert query(["parseHeader", "cookie", "unheard"], counts) == ["cookie", "header", "parse"]


def test_a_word_that_many_passages_have_is_left_out_unless_there_are_few_passages():
    assert query(["cookie", "everywhere"], {"cookie": 2, "everywhere": 1_001}) == ["cookie"]
    assert query(["everywhere"], {"everywhere": 40}, num_passages=40) == ["everywhere"]


def test_the_passages_to_look_at_are_bounded():
    counts = {f"word{letter}": MAX_LOOKED_AT // 3 for letter in "abcdefgh"}
    assert len(query(list(counts), counts, num_passages=10**6)) == 3


def test_the_number_of_words_is_bounded():
    names = [f"{one}{other}long" for one in "bcdefgh" for other in "bcdefgh"]
    assert len(query(names, dict.fromkeys(names, 1))) == MAX_QUERY_WORDS


def test_what_is_no_word_gives_no_query():
    assert query(["", '"', "OR", "\0", "*", "if"], {}) == []


def test_messages_come_back_in_order():
    stream = io.BytesIO(to_frame({"a": 1}) + to_frame([2]))
    assert read_frame(stream) == b"\x81\xa1a\x01"
    assert read_frame(stream) == b"\x91\x02"
    assert read_frame(stream) is None


@pytest.mark.parametrize(
    "data", [b"\0", b"\0\0\0", to_frame([1, 2, 3])[:-1], struct.pack(">I", MAX_FRAME_BYTES + 1)]
)
def test_what_is_cut_off_or_too_large_is_an_error(data: bytes):
    with pytest.raises(FrameError):
        read_frame(io.BytesIO(data))


def test_a_message_that_cannot_be_sent_is_an_error():
    with pytest.raises(FrameError, match="are allowed"):
        to_frame("x" * (MAX_FRAME_BYTES + 1))
    with pytest.raises(FrameError, match="UTF-8"):
        to_frame("\udcff")
