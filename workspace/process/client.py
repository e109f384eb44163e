"""The client of the process that keeps the project's index: for the language server.

``await client.ask(...)``; all else is sent without waiting. A process that dies, hangs or writes
garbage is started again after a pause, and after a few times no more: then nothing is answered.
Imports neither a parser nor a database.
"""

import asyncio
import itertools
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.frames import LENGTH, FrameError, check_length, to_frame
from intarsia.workspace.process.messages import (
    Answer,
    Failed,
    FilesChanged,
    FromIndex,
    OpenRoots,
    OpenText,
    Question,
    ToIndex,
    decode_from_index,
)

_Answer = TypeVar("_Answer", bound=Answer)

COMMAND = (sys.executable, "-P", "-m", "intarsia.workspace")

_TAIL_BYTES = 4096
_CACHE_VARIABLE = "INTARSIA_CACHE_DIR"


def _last_line(log: IO[bytes]) -> str:
    """Return the last line of what a process wrote as errors, "" if there is none."""
    log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
    lines = log.read().decode(errors="replace").splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _environment() -> dict[str, str]:
    """Return ours, with the cache folder as a full path: the process has another current folder."""
    environment = dict(os.environ)
    if folder := environment.get(_CACHE_VARIABLE):
        environment[_CACHE_VARIABLE] = str(Path(folder).expanduser().absolute())
    return environment


DELAYS_S = (0.5, 5.0, 30.0)
"""Before the first, second, … start after a death; after the last one, the client gives up."""
FORGIVEN_AFTER_S = 600.0
HANG_S = 30.0
"""The process hangs if a question is older and unanswered. Its priority is low, so be patient."""
MAX_UNSENT_BYTES = 64 * 1024 * 1024
CLOSE_S = 2.0


class IndexClient:
    """Starts the process with the first folders to index; belongs to one event loop."""

    def __init__(
        self,
        log: Callable[[str], None],
        *,
        command: Sequence[str] = COMMAND,
        delays_s: Sequence[float] = DELAYS_S,
        hang_s: float = HANG_S,
    ) -> None:
        """``log`` gets a line when the process fails; it is not called for each try."""
        self._log = log
        self._command = command
        self._delays_s = delays_s
        self._hang_s = hang_s
        self._numbers = itertools.count(1)
        self._roots: OpenRoots | None = None
        self._texts: dict[str, str] = {}
        self._asked: dict[int, tuple[float, asyncio.Future[FromIndex | None]]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._deaths: deque[float] = deque()
        self.fault = ""  # why the client has given up

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def open_roots(self, roots: Sequence[RootSettings], *, has_file_events: bool = False) -> None:
        """Index these folders and no others; starts the process if there are any."""
        self._roots = OpenRoots(roots=tuple(roots), has_file_events=has_file_events)
        self._send(self._roots)
        if roots and self._keeper is None and not self.fault:
            self._keeper = asyncio.get_running_loop().create_task(self._keep_running())

    def files_changed(self, paths: Sequence[str]) -> None:
        if paths:
            self._send(FilesChanged(paths=tuple(paths)))

    def open_text(self, path: str, text: str | None) -> None:
        """Send an open file's text; None when it is closed."""
        if text is None:
            self._texts.pop(path, None)
        else:
            self._texts[path] = text
        self._send(OpenText(path=path, text=text))

    async def ask(
        self, question: Question, kind: type[_Answer], *, timeout_s: float
    ) -> _Answer | None:
        """Return the answer, which is of this kind; None where there is none in time."""
        now = time.monotonic()
        if any(now - asked_at > self._hang_s for asked_at, _ in self._asked.values()):
            self._kill()
        number = next(self._numbers)
        if not self._send(question, number):
            return None
        future: asyncio.Future[FromIndex | None] = asyncio.get_running_loop().create_future()
        self._asked[number] = now, future  # until there is an answer, even a late one
        try:
            answer = await asyncio.wait_for(future, timeout_s)
        except TimeoutError:
            return None
        if isinstance(answer, Failed):
            self._log(f"the index has no answer: {answer.message}")
        return answer if isinstance(answer, kind) else None

    async def close(self) -> None:
        """End the process, and return when it has ended."""
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
            self._keeper = None

    def _send(self, message: ToIndex, number: int = 0) -> bool:
        """Send without waiting; return whether it was sent."""
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            return False
        try:
            process.stdin.write(to_frame((number, message)))
        except FrameError as error:  # too large
            self._log(f"a message did not reach the index: {error}")
            return False
        if process.stdin.transport.get_write_buffer_size() > MAX_UNSENT_BYTES:  # it reads nothing
            self._kill()
        return True

    def _answered(self, number: int, answer: FromIndex | None) -> None:
        _, future = self._asked.pop(number, (0.0, None))
        if future is not None and not future.done():
            future.set_result(answer)

    # the process

    async def _keep_running(self) -> None:
        while True:
            reason = await self._run_once()
            now = time.monotonic()
            while self._deaths and now - self._deaths[0] > FORGIVEN_AFTER_S:
                self._deaths.popleft()
            self._deaths.append(now)
            if len(self._deaths) > len(self._delays_s):
                self.fault = f"the project's index is off, as its process failed again: {reason}"
                self._log(self.fault)
                return
            await asyncio.sleep(self._delays_s[len(self._deaths) - 1])

    async def _run_once(self) -> str:
        """Run the process until it ends; return why it did."""
        with tempfile.TemporaryFile() as log:
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    cwd=tempfile.gettempdir(),  # the user's project must stay removable
                    env=_environment(),
                )
            except OSError as error:
                return f"it cannot be started: {error}"
            self._process = process
            try:
                self._tell_all()
                reason = await self._read_answers(process)
            finally:
                self._process = None
                for number in list(self._asked):
                    self._answered(number, None)
                await _end(process)
            return reason or _last_line(log) or f"it ended with status {process.returncode}"

    def _tell_all(self) -> None:
        """Send a new process what the one before knew."""
        if self._roots is not None:
            self._send(self._roots)
        for path, text in self._texts.items():
            self._send(OpenText(path=path, text=text))

    async def _read_answers(self, process: asyncio.subprocess.Process) -> str:
        """Return why there are no more answers, "" if the process ended."""
        assert process.stdout is not None
        try:
            while True:
                (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
                check_length(length)
                self._answered(*decode_from_index(await process.stdout.readexactly(length)))
        except (asyncio.IncompleteReadError, ConnectionError):
            return ""
        except (FrameError, UnicodeDecodeError, msgspec.DecodeError) as error:
            return f"it sent an invalid answer: {error}"

    def _kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close the process's input, which ends it; kill it if it does not end."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), CLOSE_S)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
