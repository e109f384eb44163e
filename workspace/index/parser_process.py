"""The process that parses: it may crash, hang or grow; only the text that it had is left out."""

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
import psutil

from intarsia.infill.languages import language_for_id
from intarsia.workspace.index.frames import FrameError, read_frame, to_frame
from intarsia.workspace.index.root_index import ParseJob
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols

LOWEST = 19
LOW = 10
"""For a process that also answers: at the lowest priority, a busy machine would hardly run it."""


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
"""A process with more memory is replaced: trees of large files leave gaps in it."""
MIN_ANSWERS = 100
"""A process answers at least this often: starting one costs half a second."""
MAX_CPU_S = 10.0
"""Processor time for one file: on a busy machine the process may hardly run for minutes."""
MAX_WAIT_S = 600.0
"""For a process that neither answers nor runs."""
MAX_FAILED_STARTS = 3
_POLL_S = 0.25


class ParseText(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    language_id: str


class TextParsed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a ``ParseText``; ``symbols`` are None where ``reason`` says why."""

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
        answer = TextParsed(
            symbols=extract_symbols(request.text, language_for_id(request.language_id))
        )
        to_frame(answer)
    except Exception as error:  # noqa: BLE001  one odd file must not end the process
        return TextParsed(reason=f"cannot be parsed ({type(error).__name__})")
    return answer


COMMAND = (sys.executable, "-P", "-m", "intarsia.workspace", "parse")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Parsed:
    """The outcome of a job: ``symbols``, or a ``reason``. A ``fault`` ends all parsing."""

    job: ParseJob
    symbols: FileSymbols | None = None
    reason: str = ""
    fault: str = ""


class Parser:
    """Parses texts in order, in a process that is started and replaced as need be.

    ``on_parsed`` is called in a thread of its own.
    """

    def __init__(
        self, on_parsed: Callable[[Parsed], None], command: Sequence[str] = COMMAND
    ) -> None:
        self._on_parsed = on_parsed
        self._command = command
        self._jobs = queue.SimpleQueue[ParseJob | None]()
        self._process: subprocess.Popen[bytes] | None = None
        self._num_ends = 0  # of processes in a row, without an answer
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="parser", daemon=True)
        self._thread.start()

    def send(self, job: ParseJob) -> None:
        """Send a text to be parsed, without waiting."""
        self._jobs.put(job)

    def close(self) -> None:
        """End the process at once, and return when it has ended."""
        self._is_closed = True
        self._jobs.put(None)
        if (process := self._process) is not None:
            process.kill()
        self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and not self._is_closed:
            self._on_parsed(self._parsed(job))
        self._end()

    def _parsed(self, job: ParseJob) -> Parsed:
        try:
            frame = to_frame(ParseText(text=job.text, language_id=job.language.id))
            answer = _answer_of(self._process or self._start(), frame)
        except FrameError as error:
            return Parsed(job=job, reason=str(error))
        except (OSError, RuntimeError) as error:  # no more processes, or threads
            return Parsed(job=job, fault=f"the parser cannot be started: {error}")
        if answer is None or answer.is_last:
            self._end()
        if answer is not None:
            self._num_ends = 0
            return Parsed(job=job, symbols=answer.symbols, reason=answer.reason)
        self._num_ends += 1
        if self._num_ends > MAX_FAILED_STARTS:
            fault = "the parser keeps stopping: is the installation complete?"
            return Parsed(job=job, fault=fault)
        return Parsed(job=job, reason="the parser stopped while parsing the file")

    def _start(self) -> subprocess.Popen[bytes]:
        process = self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        if self._is_closed:
            process.kill()
        return process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            with self._process, suppress(BrokenPipeError):  # closes its pipes, and waits for it
                self._process = None


def _answer_of(process: subprocess.Popen[bytes], frame: bytes) -> TextParsed | None:
    """Return the answer, None if the process ended, hung, or wrote something else."""
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None and stdout is not None
    answered = threading.Event()
    threading.Thread(target=_kill_if_hung, args=(process, answered), daemon=True).start()
    try:
        stdin.write(frame)
        stdin.flush()
        data = read_frame(stdout)
        return None if data is None else _decode_answer(data)
    except (FrameError, OSError, UnicodeDecodeError, msgspec.DecodeError):
        return None
    finally:
        answered.set()


def _kill_if_hung(process: subprocess.Popen[bytes], answered: threading.Event) -> None:
    """Kill the process if it uses up its time before the event is set."""
    until = time.monotonic() + MAX_WAIT_S
    with suppress(psutil.Error):  # it has ended
        cpu_times = psutil.Process(process.pid).cpu_times
        max_cpu_s = sum(cpu_times()[:2]) + MAX_CPU_S
        while not answered.wait(_POLL_S):
            if time.monotonic() > until or sum(cpu_times()[:2]) > max_cpu_s:
                process.kill()
                return


_decode_answer = msgspec.msgpack.Decoder(TextParsed).decode
