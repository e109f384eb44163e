"""Start a process that outlives this one, with its output in a log file of bounded size."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.errors import EngineUnavailable
from intarsia.engine.ipc.ownership import make_own_folder

MAX_LOG_BYTES = 1024 * 1024
"""A longer log is renamed to ``engine.log.1`` at the next start."""

_FOLDERS = ("INTARSIA_CACHE_DIR", "INTARSIA_DATA_DIR")


class DetachedProcess:
    """A started process as its starter sees it: whether it still runs, and what it has logged."""

    def __init__(self, process: subprocess.Popen[bytes], log_path: Path, log_start: int) -> None:
        """``log_start``: where in the log file, in bytes, the output of this process begins."""
        self.log_path = log_path
        self._process = process
        self._log_start = log_start
        # Without a wait in a thread, each ended engine would stay a zombie of a long-lived editor.
        threading.Thread(target=process.wait, name="engine-reaper", daemon=True).start()

    def exit_code(self) -> int | None:
        return self._process.poll()

    def wait(self) -> int:
        return self._process.wait()

    def last_words(self) -> str:
        """Return the last line that the process has written since its start."""
        with self.log_path.open("rb") as log:
            log.seek(self._log_start)
            lines = log.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")


def start_detached(command: Sequence[str], address: Address) -> DetachedProcess:
    """Start the command with the address in its environment, and return at once.

    Raises ``EngineUnavailable``.
    """
    try:
        log_path = _fresh_log(address)
        with log_path.open("ab") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=address.directory,  # not the user's project: it must stay removable
                env={**os.environ, **address.as_environment(), **absolute_folders()},
                start_new_session=True,
                creationflags=_creation_flags(),
            )
            return DetachedProcess(process, log_path, log.tell())
    except OSError as error:
        raise EngineUnavailable(f"cannot start the engine ({command[0]}): {error}") from error


def absolute_folders() -> dict[str, str]:
    """Return the set variables that name our folders, each as a full path.

    A process that starts in another folder than this would read a relative path differently.
    Raises EngineUnavailable where a "~" names no folder.
    """
    return {name: _absolute(name, os.environ[name]) for name in _FOLDERS if os.environ.get(name)}


def _absolute(name: str, folder: str) -> str:
    try:
        return str(Path(folder).expanduser().absolute())
    except RuntimeError as error:  # a "~" for which there is no home folder
        raise EngineUnavailable(
            f"{name} is {folder!r}, which names no folder ({error}): set it to a full path"
        ) from error


def _fresh_log(address: Address) -> Path:
    """Return the log file, renamed if it was long.

    It is in the runtime folder where the log's own folder cannot be made or is not the user's: an
    engine that could not log would not start.
    """
    try:
        if make_own_folder(address.log_directory, is_private=False) is None:
            return _fresh_file(address.log_path)
    except OSError:
        pass  # a read-only home folder, a full disk
    return _fresh_file(address.directory / address.log_path.name)


def _fresh_file(path: Path) -> Path:
    path.touch(mode=0o600)
    if path.stat().st_size > MAX_LOG_BYTES:
        path.replace(path.with_name(path.name + ".1"))
        path.touch(mode=0o600)
    with path.open("ab"):  # it may be there, and not be ours to write
        return path


def _creation_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
    return 0
