"""Files come back byte for byte, never half written; LINE:COL to offsets and back."""

import os
import socket
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.positions import (
    Position,
    offset_of,
    parse_position,
    parse_range,
    position_of,
)
from intarsia.cli.fill.source_file import read_source, write_source


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1\n",
        b"\xef\xbb\xbfx = 1\r\ny = 2\r\n",
        b"mixed\r\nline\nends\r",
        "🦀 é ﬁ".encode(),
    ],
)
def test_an_unchanged_text_is_written_as_the_same_bytes(tmp_path: Path, data: bytes):
    path = tmp_path / "file.py"
    path.write_bytes(data)
    source = read_source(path)
    write_source(source, source.text)
    assert path.read_bytes() == data


def test_the_byte_order_mark_is_no_part_of_the_text(tmp_path: Path):
    path = tmp_path / "file.py"
    path.write_bytes(b"\xef\xbb\xbfx")
    assert read_source(path).text == "x"


def test_the_mode_stays_and_nothing_is_left_beside_the_file(tmp_path: Path):
    path = tmp_path / "script.sh"
    path.write_text("echo\n")
    path.chmod(0o754)
    write_source(read_source(path), "echo 1\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert path.read_text() == "echo 1\n"
    assert names_in(tmp_path) == ["script.sh"]


def test_a_link_stays_a_link(tmp_path: Path):
    path, link = tmp_path / "file.py", tmp_path / "link.py"
    path.write_text("a")
    link.symlink_to(path)
    write_source(read_source(link), "b")
    assert link.is_symlink()
    assert path.read_text() == "b"


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path):
    path = tmp_path / "file.py"
    path.write_text("a")
    source = read_source(path)
    path.write_text("theirs")
    with pytest.raises(CliError, match="changed in the meantime") as caught:
        write_source(source, "ours")
    assert caught.value.code == ExitCode.NOT_WRITTEN
    assert path.read_text() == "theirs"
    assert names_in(tmp_path) == ["file.py"]


def test_a_file_that_vanished_meanwhile_is_not_made_anew(tmp_path: Path):
    path = tmp_path / "file.py"
    path.write_text("a")
    source = read_source(path)
    path.unlink()
    with pytest.raises(CliError, match="was not written"):
        write_source(source, "ours")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"caf\xe9\n", r"is not UTF-8 \(byte 4 cannot be read\): convert it first"),
        (b"\x7fELF\0\0", "is a binary file"),
        ("x = 1\n".encode("utf-16"), "is a binary file|is not UTF-8"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, says: str):
    path = tmp_path / "file.py"
    path.write_bytes(data)
    with pytest.raises(CliError, match=says):
        read_source(path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing.py", "no such file"),
        (".", "is a folder"),
        ("pipe.py", "is a pipe: give `-`"),
        *((name, "cannot read") for name in ("s", "loop.py", "a\0b.py")),
        *((name, "but a device|check the path") for name in ("/dev/zero", "/dev/tty")),
    ],
)
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, name: str, says: str):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(CliError, match=says):
            read_source(tmp_path / name)


@pytest.mark.parametrize("name", [".env", "credentials.json", "link.py"])
def test_a_secret_is_not_read_under_whatever_name(tmp_path: Path, name: str):
    (tmp_path / "link.py").symlink_to(tmp_path / ".netrc")
    for path in (tmp_path / ".netrc", tmp_path / name):
        path.write_text("TOKEN=hunter2")
    with pytest.raises(CliError, match=r"named like a secret.*standard input") as caught:
        read_source(tmp_path / name)
    assert caught.value.code == ExitCode.NOTHING


@pytest.mark.parametrize(
    ("text", "word", "rest"),
    [
        ("ab\ncd", "1:1", "ab\ncd"),
        ("ab\ncd", "1:3", "\ncd"),
        ("ab\ncd", "2:2", "d"),
        ("ab\ncd", "2:3", ""),
        ("ab\r\ncd", "1:3", "\r\ncd"),
        ("ab\rcd", "2:1", "cd"),
        ("ab\n", "2:1", ""),
        ("", "1:1", ""),
        ("🦀é\u2028x", "1:4", "x"),  # characters count, and a line separator ends no line
        ("a\fb\nc", "2:1", "c"),
    ],
)
def test_a_position_is_where_an_editor_has_it(text: str, word: str, rest: str):
    assert text[offset_of(text, parse_position(word)) :] == rest


@pytest.mark.parametrize(
    ("text", "word", "says"),
    [
        ("ab\ncd", "1:4", "line 1 has columns 1 to 3"),
        ("ab\ncd", "3:1", "has 2 lines"),
        ("", "1:2", "line 1 has columns 1 to 1"),
        ("", "2:1", "has 1 line: give a line from 1 to 1"),
        ("ab\r\ncd", "1:4", "columns 1 to 3"),
    ],
)
def test_a_position_outside_the_text_says_what_there_is(text: str, word: str, says: str):
    with pytest.raises(CliError, match=says):
        offset_of(text, parse_position(word))


@pytest.mark.parametrize(
    "word", ["", "1", "1:", ":1", "0:1", "1:0", "-1:1", "1:1:1", "a:b", "１:１"]
)
def test_what_is_no_position_is_refused(word: str):
    with pytest.raises(ValueError, match="is not a position"):
        parse_position(word)


@pytest.mark.parametrize(
    ("word", "says"),
    [("1:1", "not a range"), ("2:1-1:1", "ends before it starts"), ("1:1-x", "not a position")],
)
def test_what_is_no_range_is_refused(word: str, says: str):
    with pytest.raises(ValueError, match=says):
        parse_range(word)


def test_an_empty_range_is_a_range():
    found = parse_range("3:4-3:4")
    assert found.start == found.end == Position(line=3, column=4)


@given(st.text(alphabet="ab \t\r\n\f🦀\u2028"), st.integers(min_value=0))
def test_an_offset_survives_the_way_to_a_position_and_back(text: str, number: int):
    offset = number % (len(text) + 1)
    if text[:offset].endswith("\r") and text[offset:].startswith("\n"):
        offset -= 1  # no position lies between the two
    assert offset_of(text, position_of(text, offset)) == offset
