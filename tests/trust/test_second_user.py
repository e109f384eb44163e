"""A second local user, really created, tries all that shared folders allow: nothing of it works."""

import asyncio
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from second_user import as_root, as_second_user, shared_folder
from toy_gguf import ToyGguf, toy_model, write_gguf

from intarsia.engine.cache.own_file import OwnFileError, open_seals, read_own_file
from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.address import Address, prepare_directory
from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.kernels.compile_cache import open_files
from intarsia.engine.model_store.gguf.convert import convert
from intarsia.engine.service.endpoint import Listener, hold_address
from intarsia.workspace.index.database import database_path, open_database

pytestmark = as_root


def quiet(stage: str, fraction: float | None) -> None:
    """Ignore progress."""


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder as /tmp is: all users may write, each renames only their own files."""
    with shared_folder() as folder:
        yield folder


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder in which all users may rename everything."""
    with shared_folder(0o777) as folder:
        yield folder


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    model = toy_model("qwen2", is_tied=True)
    return write_gguf(tmp_path / "toy.gguf", model, ToyGguf(architecture="qwen2"))


def test_the_second_user_is_another_one(shared: Path) -> None:
    assert as_second_user((shared / "theirs").mkdir)
    assert (shared / "theirs").stat().st_uid not in (0, os.geteuid())
    (shared / "ours").mkdir(mode=0o700)
    assert not as_second_user(lambda: list((shared / "ours").iterdir()))


# -- compiled kernels ------------------------------------------------------------------------------


def test_a_folder_of_kernels_that_another_user_made_is_not_used(shared: Path) -> None:
    as_second_user(lambda: (shared / "kernels").mkdir(mode=0o777))
    with pytest.raises(PermissionError, match=f"{shared}/kernels belongs to another user"):
        open_files(shared / "kernels" / "digest")


def test_kernels_below_a_folder_where_all_may_rename_are_not_used(open_folder: Path) -> None:
    kernels = open_folder / "kernels"
    kernels.mkdir(mode=0o700)
    assert as_second_user(lambda: kernels.rename(open_folder / "aside")), "so it could be swapped"
    assert as_second_user(lambda: kernels.mkdir(mode=0o777))
    with pytest.raises(PermissionError, match="written by other users"):
        open_files(kernels / "digest")


def test_kernels_in_a_sticky_folder_can_neither_be_swapped_nor_planted(shared: Path) -> None:
    folder = shared / "kernels" / "digest"
    files = open_files(folder)
    files.write("kernel", b"code")
    path = folder / "kernel.kernel"
    planted = b"planted"
    for act in (
        lambda: (shared / "kernels").rename(shared / "aside"),
        lambda: folder.rename(shared / "aside"),
        path.read_bytes,
        lambda: path.write_bytes(planted),
        lambda: (folder / "other.kernel").write_bytes(planted),
        lambda: shutil.rmtree(shared / "kernels"),
    ):
        assert not as_second_user(act)
    assert open_files(folder).read("kernel") == b"code"


def test_a_link_to_a_folder_of_kernels_of_another_user_is_not_followed(shared: Path) -> None:
    open_files(shared / "own")
    as_second_user(lambda: (shared / "kernels").symlink_to(shared / "own"))
    with pytest.raises(PermissionError, match="kernels belongs to another user"):
        open_files(shared / "kernels")


def test_a_file_of_kernels_that_another_user_sealed_is_dropped(shared, tmp_path, monkeypatch):
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data of another user"))
    open_files(tmp_path / "theirs").write("kernel", b"their code")
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(tmp_path / "data"))
    files = open_files(tmp_path / "ours")
    shutil.copy(tmp_path / "theirs" / "kernel.kernel", tmp_path / "ours")
    assert files.read("kernel") is None
    assert files.is_empty()


def test_the_key_is_secret(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTARSIA_DATA_DIR", str(shared / "data"))
    assert open_seals() is not None
    key = shared / "data" / "seal.key"
    assert not as_second_user(key.read_bytes)
    assert not as_second_user(key.unlink)


# -- converted models ------------------------------------------------------------------------------


def test_a_model_that_another_user_planted_is_refused(shared: Path, gguf: Path) -> None:
    planted = shared / "converted" / "toy"
    as_second_user(lambda: planted.mkdir(parents=True, mode=0o777))
    with pytest.raises(ModelError, match=f"{shared}/converted belongs to another user"):
        convert(gguf, planted, quiet)


def test_a_model_that_was_planted_before_its_folder_was_ours_is_converted_again(shared, gguf):
    planted = shared / "converted" / "toy"
    (shared / "converted").mkdir()
    (shared / "converted").chmod(0o777)
    as_second_user(lambda: planted.mkdir(mode=0o777))
    as_second_user(lambda: (planted / "tokenizer.json").write_text("{}"))
    (shared / "converted").chmod(0o755)
    convert(gguf, planted, quiet)
    assert (planted / "tokenizer.json").read_text() != "{}"
    assert not as_second_user(lambda: (planted / "tokenizer.json").write_text("{}"))
    assert not as_second_user(lambda: planted.rename(shared / "aside"))


# -- index, settings -------------------------------------------------------------------------------


def test_no_index_is_made_in_a_folder_of_another_user(shared: Path) -> None:
    as_second_user(lambda: (shared / "index").mkdir(mode=0o777))
    with pytest.raises(PermissionError, match="belongs to another user"):
        open_database(database_path("/project", shared / "index"))


def test_no_index_is_made_behind_a_link_that_another_user_planted(shared, open_folder, tmp_path):
    tmp_path.chmod(0o755)
    as_second_user(lambda: (shared / "index").symlink_to(tmp_path))
    with pytest.raises(PermissionError, match="is a link"):
        open_database(database_path("/project", shared / "index"))
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    with pytest.raises(PermissionError, match="can be changed by all users"):
        open_database(database_path("/project", open_folder / "index"))


def test_a_file_of_settings_in_a_folder_of_another_user_is_refused(shared: Path) -> None:
    as_second_user(lambda: (shared / "config").mkdir(mode=0o777))
    settings = shared / "config" / "remotes.toml"
    settings.touch(mode=0o600)
    with pytest.raises(OwnFileError, match="config belongs to another user"):
        read_own_file(settings, is_private=True, max_bytes=100)


# -- the runtime folder ----------------------------------------------------------------------------


def test_a_squatted_runtime_folder_is_refused(shared: Path) -> None:
    as_second_user(lambda: (shared / "folder").mkdir(mode=0o700))
    as_second_user(lambda: (shared / "link").symlink_to(shared / "ours"))
    as_second_user(lambda: (shared / "parent").mkdir(mode=0o777))
    (shared / "ours").mkdir(mode=0o700)
    for name in ("folder", "link", "parent/run"):
        with pytest.raises(EngineUnavailable, match="set INTARSIA_RUNTIME_DIR"):
            prepare_directory(shared / name)


def test_a_runtime_folder_that_others_may_replace_is_refused(open_folder: Path) -> None:
    with pytest.raises(EngineUnavailable, match=f"{open_folder} can be written by other users"):
        prepare_directory(open_folder / "run")


def test_the_socket_and_its_files_are_closed(shared: Path) -> None:
    address = Address(directory=shared / "run", log_directory=shared / "run", transport="unix")

    async def attack() -> None:
        listener = Listener(address, "", lambda reader, writer: None)
        await listener.listen()
        try:
            assert not as_second_user(_connect)
            assert not as_second_user(address.pid_path.read_text)
            assert not as_second_user(address.socket_path.unlink)
            assert not as_second_user(lambda: address.directory.rename(shared / "aside"))
        finally:
            listener.stop()

    def _connect() -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(address.socket_path))

    with hold_address(address):
        asyncio.run(attack())


def test_the_port_and_token_are_secret(shared: Path) -> None:
    address = Address(directory=shared / "run", log_directory=shared / "run", transport="tcp")

    async def attack() -> None:
        listener = Listener(address, "a token", lambda reader, writer: None)
        await listener.listen()
        assert not as_second_user(address.port_path.read_bytes)
        listener.stop()

    with hold_address(address):
        asyncio.run(attack())
