"""Files come back byte for byte, and never half written."""

import os
import socket
import stat
from pathlib import Path

import pytest

from intarsia.cli.errors import CliError, ExitCode
from intarsia.cli.fill.source_file import read_source, require_writable, write_source


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


def test_a_read_only_file_is_refused_before_any_work(tmp_path: Path):
    path = tmp_path / "file.py"
    path.write_text("a")
    path.chmod(0o444)
    with pytest.raises(CliError, match="read-only") as caught:
        require_writable(read_source(path))
    assert caught.value.code == ExitCode.NOT_WRITTEN


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


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path):
    with pytest.raises(CliError, match="no such file"):
        read_source(tmp_path / "missing.py")
    with pytest.raises(CliError, match="is a folder"):
        read_source(tmp_path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path):
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    with pytest.raises(CliError, match="is a pipe: give `-`"):
        read_source(pipe)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_refused(device: str):
    with pytest.raises(CliError, match=r"is no file but a device|check the path"):
        read_source(Path(device))


def test_a_socket_a_loop_of_links_and_no_path_are_refused(tmp_path: Path):
    (tmp_path / "loop.py").symlink_to("loop.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        for name in ("s", "loop.py", "a\0b.py"):
            with pytest.raises(CliError, match="cannot read"):
                read_source(tmp_path / name)


@pytest.mark.parametrize("name", [".env", "credentials.json", "link.py"])
def test_a_secret_is_not_read_under_whatever_name(tmp_path: Path, name: str):
    (tmp_path / "link.py").symlink_to(tmp_path / ".netrc")
    for path in (tmp_path / ".netrc", tmp_path / name):
        path.write_text("TOKEN=hunter2")
    with pytest.raises(CliError, match=r"named as a secret.*standard input") as caught:
        read_source(tmp_path / name)
    assert caught.value.code == ExitCode.NOTHING
