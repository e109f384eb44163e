"""The engine's folder belongs to the user; its socket's path is short enough for every system."""

import os
from pathlib import Path

import pytest

from intarsia.engine.ipc.address import (
    MAX_SOCKET_PATH_BYTES,
    Address,
    prepare_directory,
    resolve_address,
)
from intarsia.engine.ipc.errors import EngineUnavailable

on_unix = pytest.mark.skipif(os.name == "nt", reason="file modes are Unix's")


def test_the_override_names_everything_and_a_child_process_finds_the_same(tmp_path: Path):
    address = resolve_address({"INTARSIA_RUNTIME_DIR": "/r", "INTARSIA_TRANSPORT": "tcp"})
    assert address == Address(directory=Path("/r"), log_directory=Path("/r"), transport="tcp")
    assert resolve_address(address.as_environment()) == address


@on_unix
def test_the_runtime_folder_of_the_session_is_used_where_it_is_the_users_own(tmp_path: Path):
    tmp_path.chmod(0o700)
    found = resolve_address({"XDG_RUNTIME_DIR": str(tmp_path), "INTARSIA_TRANSPORT": "tcp"})
    assert found.directory == tmp_path / "intarsia"


@on_unix
@pytest.mark.parametrize("value", ["/no/such/folder", "relative", ""])
def test_an_unusable_session_folder_is_passed_over(value: str):
    found = resolve_address({"XDG_RUNTIME_DIR": value}).directory
    assert found.name in ("intarsia", f"intarsia-{os.geteuid()}")
    assert found.is_absolute()
    assert not value or not str(found).startswith(value)


def test_an_unknown_transport_is_named():
    with pytest.raises(EngineUnavailable, match="'carrier pigeon': set it to unix or tcp"):
        resolve_address({"INTARSIA_TRANSPORT": "carrier pigeon"})


@on_unix
def test_a_path_too_long_for_a_socket_is_refused_with_the_remedy():
    fitting = "/" + "é" * 45
    assert len(os.fsencode(fitting + "/engine.sock")) == MAX_SOCKET_PATH_BYTES
    resolve_address({"INTARSIA_RUNTIME_DIR": fitting, "INTARSIA_TRANSPORT": "unix"})
    with pytest.raises(
        EngineUnavailable, match=r"104 bytes, 103 are allowed.*INTARSIA_RUNTIME_DIR"
    ):
        resolve_address({"INTARSIA_RUNTIME_DIR": fitting + "x", "INTARSIA_TRANSPORT": "unix"})


@on_unix
def test_a_new_folder_is_closed_to_others(tmp_path: Path):
    prepare_directory(tmp_path / "new")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


@on_unix
def test_a_folder_open_to_others_is_refused(tmp_path: Path):
    tmp_path.chmod(0o755)
    with pytest.raises(EngineUnavailable, match=r"open to other users.*mode 0700"):
        prepare_directory(tmp_path)


@on_unix
def test_a_link_to_a_folder_is_refused(tmp_path: Path):
    (tmp_path / "folder").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with pytest.raises(EngineUnavailable, match="not a folder"):
        prepare_directory(tmp_path / "link")


@on_unix
def test_another_users_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tmp_path.chmod(0o700)
    monkeypatch.setattr("os.geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(EngineUnavailable, match="belongs to another user"):
        prepare_directory(tmp_path)


def test_a_file_where_the_folder_should_be_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(EngineUnavailable, match="set INTARSIA_RUNTIME_DIR"):
        prepare_directory(tmp_path / "file")
