"""An engine starts even where its log has no folder of its own."""

import sys
from dataclasses import replace
from pathlib import Path

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.detached import start_detached

COMMAND = (sys.executable, "-P", "-c", "print('its last words')")


def log_of(address: Address) -> Path:
    process = start_detached(COMMAND, address)
    assert process.wait() == 0
    assert process.last_words() == "its last words"
    return process.log_path


def test_the_log_is_in_its_own_folder(address: Address, tmp_path: Path) -> None:
    with_log = replace(address, log_directory=tmp_path / "state" / "log")
    assert log_of(with_log) == tmp_path / "state" / "log" / "engine.log"


def test_a_log_folder_that_cannot_be_made_is_replaced(address: Address, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    without_log = replace(address, log_directory=tmp_path / "file" / "log")
    assert log_of(without_log) == address.directory / "engine.log"


def test_a_log_that_cannot_be_written_is_replaced(address: Address, tmp_path: Path) -> None:
    (tmp_path / "engine.log").mkdir()
    assert log_of(replace(address, log_directory=tmp_path)) == address.directory / "engine.log"


def test_a_log_folder_of_all_users_is_not_used(address: Address, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    shared = replace(address, log_directory=tmp_path / "shared")
    assert log_of(shared) == address.directory / "engine.log"
