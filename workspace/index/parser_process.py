"""The process that parses, as its owner sees it: texts in, answers or its end out."""

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from intarsia.workspace.index.frames import FrameError, read_frame, to_frame
from intarsia.workspace.index.parse_worker import ParseText, TextParsed

COMMAND = (sys.executable, "-P", "-m", "intarsia.workspace", "parse")

_CLOSE_S = 1.0


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class ParserEnded:
    """The process has ended, or wrote something that is no answer."""

    process: "ParserProcess"


ParserEvent: TypeAlias = TextParsed | ParserEnded


class ParserProcess:
    """A started parser. It answers in order; ``on_event`` is called in a thread of its own."""

    def __init__(
        self, on_event: Callable[[ParserEvent], None], command: Sequence[str] = COMMAND
    ) -> None:
        """Raises OSError if it cannot be started."""
        self._on_event = on_event
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._threads = [
            threading.Thread(target=work, name=f"parser-{name}", daemon=True)
            for name, work in (("writer", self._write), ("reader", self._read))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, request: ParseText) -> None:
        """Send a text without waiting."""
        self._outbox.put(to_frame(request))

    def kill(self) -> None:
        """End it at once; ``ParserEnded`` follows."""
        self._process.kill()

    def close(self) -> None:
        """End it, and return when it has ended."""
        self._outbox.put(None)
        try:
            self._process.wait(_CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(_CLOSE_S)

    def _write(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            with stdin:
                while (frame := self._outbox.get()) is not None:
                    stdin.write(frame)
                    stdin.flush()
        except OSError:  # it has ended; the reader says so
            return

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        decode = msgspec.msgpack.Decoder(TextParsed).decode
        with stdout:
            try:
                while (data := read_frame(stdout)) is not None:
                    self._on_event(decode(data))
            except (FrameError, OSError, UnicodeDecodeError, msgspec.DecodeError):
                self._process.kill()
        self._process.wait()
        self._outbox.put(None)
        self._on_event(ParserEnded(process=self))
