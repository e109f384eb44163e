"""Starts the process of the index, and keeps its last words."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

COMMAND = (sys.executable, "-P", "-m", "intarsia.workspace")

_TAIL_BYTES = 4096
_LAST_S = 1.0
_CACHE_VARIABLE = "INTARSIA_CACHE_DIR"


async def start_process(command: Sequence[str]) -> asyncio.subprocess.Process:
    """Start the command with pipes, outside of the user's project. Raises OSError."""
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=tempfile.gettempdir(),  # the user's project must stay removable
        env=_environment(),
    )


class LastWords:
    """The end of what a process wrote as errors; reading it keeps the process from waiting."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._tail = b""
        self._task = asyncio.get_running_loop().create_task(self._read(process))

    async def last(self) -> str:
        """Return the last line, "" if there was none. The process has ended."""
        await asyncio.wait([self._task], timeout=_LAST_S)
        self._task.cancel()
        lines = self._tail.decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while data := await process.stderr.read(_TAIL_BYTES):
            self._tail = (self._tail + data)[-_TAIL_BYTES:]


def _environment() -> dict[str, str]:
    """Return ours, with the cache folder as a full path: the process has another current folder."""
    environment = dict(os.environ)
    if folder := environment.get(_CACHE_VARIABLE):
        environment[_CACHE_VARIABLE] = str(Path(folder).expanduser().absolute())
    return environment
