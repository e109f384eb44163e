"""The engine's folder is the user's alone; its socket's path is short enough for every system."""

import os
from pathlib import Path

import pytest
from second_user import as_root

from intarsia.engine.ipc import ownership
from intarsia.engine.ipc.address import (
    MAX_SOCKET_PATH_BYTES,
    Address,
    prepare_directory,
    resolve_address,
)
from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.ipc.ownership import make_own_folder, weakness_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


def test_the_override_names_everything_and_a_child_process_finds_the_same(tmp_path: Path):
    address = resolve_address({"INTARSIA_RUNTIME_DIR": "/r", "INTARSIA_TRANSPORT": "tcp"})
    assert address == Address(directory=Path("/r"), log_directory=Path("/r"), transport="tcp")
    assert resolve_address(address.as_environment()) == address


def test_the_runtime_folder_of_the_session_is_used_where_it_is_the_users_own(tmp_path: Path):
    tmp_path.chmod(0o700)
    found = resolve_address({"XDG_RUNTIME_DIR": str(tmp_path), "INTARSIA_TRANSPORT": "tcp"})
    assert found.directory == tmp_path / "intarsia"


@pytest.mark.parametrize("value", ["/no/such/folder", "relative", ""])
def test_an_unusable_session_folder_is_passed_over(value: str):
    found = resolve_address({"XDG_RUNTIME_DIR": value}).directory
    assert found.name in ("intarsia", f"intarsia-{os.geteuid()}")
    assert found.is_absolute()
    assert not value or not str(found).startswith(value)


def test_an_unknown_transport_is_named():
    with pytest.raises(EngineUnavailable, match="'carrier pigeon': set it to unix or tcp"):
        resolve_address({"INTARSIA_TRANSPORT": "carrier pigeon"})


def test_a_path_too_long_for_a_socket_is_refused_with_the_remedy():
    fitting = "/" + "é" * 45
    assert len(os.fsencode(fitting + "/engine.sock")) == MAX_SOCKET_PATH_BYTES
    resolve_address({"INTARSIA_RUNTIME_DIR": fitting, "INTARSIA_TRANSPORT": "unix"})
    with pytest.raises(
        EngineUnavailable, match=r"104 bytes, 103 are allowed.*INTARSIA_RUNTIME_DIR"
    ):
        resolve_address({"INTARSIA_RUNTIME_DIR": fitting + "x", "INTARSIA_TRANSPORT": "unix"})


def test_only_a_folder_of_the_users_own_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    new = tmp_path / "new"
    prepare_directory(new)
    assert new.stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(new)
    (tmp_path / "file").touch()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    for name, match in (
        ("open", r"open to other users.*mode 0700"),
        ("link", "not a folder"),
        ("file", "set INTARSIA_RUNTIME_DIR"),
    ):
        with pytest.raises(EngineUnavailable, match=match):
            prepare_directory(tmp_path / name)
    monkeypatch.setattr("os.geteuid", lambda: new.stat().st_uid + 1)
    with pytest.raises(EngineUnavailable, match="belongs to another user"):
        prepare_directory(new)


STRANGER = 54_321
"""A user id, and a group id, of no one here."""


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    folder = tmp_path / "parent"
    folder.mkdir(mode=0o755)
    return folder


@pytest.fixture
def own(parent: Path) -> Path:
    folder = parent / "own"
    folder.mkdir(mode=0o700)
    return folder


def test_a_folder_in_ones_own_folders_is_ours(own: Path) -> None:
    assert any(it.stat().st_mode & 0o1002 == 0o1002 for it in own.parents), "as /tmp is"
    assert weakness_of(own) is None
    assert weakness_of(own, is_private=True) is None


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o702])
def test_a_parent_where_others_may_write_is_named(own: Path, parent: Path, mode: int) -> None:
    parent.chmod(mode)
    weakness = weakness_of(own)
    assert str(weakness) == f"{parent} can be written by other users"
    assert weakness.remedy == f"run chmod go-w {parent}"
    parent.chmod(mode | 0o1000)  # a sticky one is safe, but only on the way
    assert weakness_of(own) is None
    assert str(weakness_of(parent)) == str(weakness)


@pytest.mark.parametrize("mode", [0o755, 0o710, 0o704])
def test_a_private_folder_is_closed(own: Path, mode: int) -> None:
    own.chmod(mode)
    assert weakness_of(own) is None
    weakness = weakness_of(own, is_private=True)
    assert weakness.remedy == f"run chmod 700 {own}"


def test_the_links_on_the_way_are_followed_and_looked_at(own: Path, parent: Path) -> None:
    (parent / "link").symlink_to("own/../own")
    (own / "file").write_text("")
    assert weakness_of(parent / "link" / "file") is None
    own.chmod(0o777)
    assert str(weakness_of(parent / "link" / "file")).startswith(f"{own} can be written")


def test_what_is_missing_or_endless_is_an_error(own: Path) -> None:
    (own / "loop").symlink_to("loop")
    for name in ("missing", "loop"):
        with pytest.raises(OSError, match=name):
            weakness_of(own / name)


def test_missing_folders_are_made_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert make_own_folder(tmp_path / "a" / "b") is None
        assert make_own_folder(tmp_path / "c" / "d", is_private=False) is None
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b", "c", "c/d")]
    assert modes == [0o700, 0o700, 0o755, 0o755]
    with pytest.raises(OSError, match="exists"):
        (tmp_path / "file").touch()
        make_own_folder(tmp_path / "file")


@as_root
def test_an_owner_who_is_neither_root_nor_this_user_is_named(own: Path, parent: Path) -> None:
    os.chown(parent, STRANGER, 0)
    assert str(weakness_of(own)) == f"{parent} belongs to another user"


@as_root
def test_a_link_of_another_user_is_not_followed(own: Path, parent: Path) -> None:
    link = parent / "link"
    link.symlink_to(own)
    os.chown(link, STRANGER, STRANGER, follow_symlinks=False)
    assert str(weakness_of(link)) == f"{link} belongs to another user"


@as_root
def test_the_write_permission_of_a_strangers_group_counts(own: Path) -> None:
    own.chmod(0o770)
    assert weakness_of(own) is None, "root's own group has no other member"
    os.chown(own, 0, STRANGER)
    assert str(weakness_of(own)) == f"{own} can be written by other users"


@as_root
def test_the_write_permission_of_an_access_list_counts(own: Path, monkeypatch: pytest.MonkeyPatch):
    own.chmod(0o770)
    monkeypatch.setattr(os, "listxattr", lambda path: ["system.posix_acl_access"])
    assert str(weakness_of(own)) == f"{own} can be written by other users"


@as_root
def test_owners_outside_a_user_namespace_may_be_on_the_way(own: Path, parent: Path, monkeypatch):
    os.chown(parent, 65_534, 65_534)
    assert weakness_of(own) is not None
    monkeypatch.setattr(ownership, "_unknown_uid", lambda: 65_534)
    assert weakness_of(own) is None
    os.chown(own, 65_534, 65_534)
    assert str(weakness_of(own)) == f"{own} belongs to another user"
