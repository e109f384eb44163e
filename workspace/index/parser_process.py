"""The process that parses, as its owner sees it: texts in, answers or its end out."""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import msgspec
import psutil

from intarsia.infill.languages import language_for_id
from intarsia.workspace.index.frames import FrameError, read_frame, to_frame
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols

LOWEST = 19
LOW = 10
"""For a process that also answers: at the lowest, a busy machine would hardly let it."""


def lower_priority(niceness: int) -> None:
    """Lower this process's share of processor and disk; does what the system allows."""
    process = psutil.Process()
    with suppress(OSError, psutil.Error, AttributeError, ValueError):
        if sys.platform == "win32":
            process.nice(psutil.IDLE_PRIORITY_CLASS)
            process.ionice(psutil.IOPRIO_VERYLOW)
        else:
            os.nice(max(0, niceness - os.nice(0)))
            if hasattr(process, "ionice"):
                process.ionice(psutil.IOPRIO_CLASS_IDLE)


MAX_BYTES = 90_000_000
"""Of memory: trees of large files leave gaps that only a new process is free of."""
MIN_ANSWERS = 100
"""Of a process, since starting one costs half a second."""


class ParseText(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    text: str
    language_id: str


class TextParsed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one ``ParseText``; ``symbols`` are None where ``reason`` says why."""

    number: int
    symbols: FileSymbols | None = None
    reason: str = ""
    is_last: bool = False  # the process ends after this answer


def run_parse_worker() -> None:
    """Answer until standard input is closed."""
    lower_priority(LOWEST)
    stdin, stdout = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(2, 1)  # a stray print must not garble the frames
    decode = msgspec.msgpack.Decoder(ParseText).decode
    process, num_answers, is_last = psutil.Process(), 0, False
    while not is_last and (data := read_frame(stdin)) is not None:
        num_answers += 1
        answer = _answer(decode(data))
        is_last = num_answers >= MIN_ANSWERS and process.memory_info().rss > MAX_BYTES
        stdout.write(to_frame(msgspec.structs.replace(answer, is_last=is_last)))
        stdout.flush()


def _answer(request: ParseText) -> TextParsed:
    try:
        symbols = extract_symbols(request.text, language_for_id(request.language_id))
        answer = TextParsed(number=request.number, symbols=symbols)
        to_frame(answer)
    except Exception as error:  # noqa: BLE001  one odd file must not end the process
        reason = f"cannot be parsed ({type(error).__name__})"
        return TextParsed(number=request.number, reason=reason)
    return answer


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
