"""One open connection to an engine: gives each answer to its request, and notices a hanging engine.

Messages cross it as frames, which the engine reads and writes by the same functions: four bytes of
length (big-endian), then one msgpack message.
"""

import asyncio
import contextlib
import itertools
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

import msgspec

from intarsia.engine.ipc.errors import EngineError, EngineStuck, FillFailed
from intarsia.engine.ipc.messages import (
    MAX_FRAME_BYTES,
    AheadReport,
    Cancel,
    ClientMessage,
    EngineMessage,
    Failed,
    Fill,
    Filled,
    FindNextEdits,
    GetStatus,
    LoadProgress,
    NextEdits,
    Prefetch,
    Preload,
    ScoreTexts,
    Status,
    Step,
    Stop,
    TextScores,
    Welcome,
    decode_engine_message,
    encode,
)

_MAX_REASON_CHARS = 300

_LENGTH = struct.Struct(">I")
_M = TypeVar("_M")


class ProtocolError(Exception):
    """Bytes that are not a message, or a message that cannot be sent. One line says why."""


def to_frame(message: ClientMessage | EngineMessage) -> bytes:
    """Return the bytes to send for one message. Raises ``ProtocolError``."""
    try:
        data = encode(message)
    except UnicodeEncodeError as error:
        raise ProtocolError(f"a text cannot be encoded as UTF-8: {error}") from error
    _check_length(len(data))
    return _LENGTH.pack(len(data)) + data


async def read_message(reader: asyncio.StreamReader, decode: Callable[[bytes], _M]) -> _M | None:
    """Return the next message, None at the stream's end. Raises ``ProtocolError``."""
    header = await reader.read(_LENGTH.size)
    if not header:
        return None
    header += await _read_rest(reader, _LENGTH.size - len(header))
    (length,) = _LENGTH.unpack(header)
    _check_length(length)
    data = await _read_rest(reader, length)
    try:
        return decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = " ".join(str(error).split())  # it may quote the peer's own names of fields
        raise ProtocolError(f"malformed message: {reason[:_MAX_REASON_CHARS]}") from error


async def _read_rest(reader: asyncio.StreamReader, length: int) -> bytes:
    try:
        return await reader.readexactly(length)
    except asyncio.IncompleteReadError as error:
        raise ProtocolError("the stream ended within a frame") from error


def _check_length(length: int) -> None:
    if length > MAX_FRAME_BYTES:
        raise ProtocolError(
            f"a frame has {length} bytes, {MAX_FRAME_BYTES} are allowed: send less text"
        )


GRACE_S = 3.0
"""How late an answer may be before the engine is asked; also how soon a cancel is answered."""

ASK_EVERY_S = 15.0
"""How long an answer without a deadline takes before the engine is asked, and asked again."""

STATUS_S = 5.0
"""An engine that does not report its status within this time hangs: it always can.

The second time in a row it is given twice as long, as the machine may only be very busy."""

MAX_QUIET_S = 10.0
"""Overdue requests are given up if the model makes no step in this time."""

HANGS_AFTER_S = 30.0
"""After this time without a step it hangs: no step of a large model takes so long."""

MAX_QUIET_LOAD_S = 30 * 60.0
"""The same for a load, which reports no progress while it reads a large file from a slow disk."""

CONFIRM_S = 2.0
"""A quiet model is asked about twice, this far apart: a process that was paused has just woken."""

AskStatus: TypeAlias = Callable[[], Awaitable[Status]]


class _Finding(NamedTuple):
    """Why no answer comes. It may be a slow step, unless ``hangs``."""

    reason: str
    hangs: bool
    is_silent: bool = False


class AnswerWatch:
    """Knows when each answer is due. ``on_stuck`` gets the reason why none comes.

    Then nothing is due any more, and the next answers are given less time, until ``sign_of_life``.
    """

    def __init__(self, ask_status: AskStatus, on_stuck: Callable[[str], None]) -> None:
        self._ask_status = ask_status
        self._on_stuck = on_stuck
        self._due: dict[int, float] = {}  # by request: the loop's time
        self._timer: asyncio.TimerHandle | None = None
        self._check: asyncio.Task[None] | None = None
        self._is_suspect = False
        self.num_hangs = 0  # findings in a row
        self.is_silent = False  # at the last finding

    def expect(self, id: int, within_s: float) -> None:
        """Expect the answer to a request within this time."""
        limit_s = min(within_s, GRACE_S) if self._is_suspect else within_s
        self._due[id] = _now() + limit_s
        self._set_timer()

    def expect_soon(self, id: int) -> None:
        """Record that a request was cancelled: its answer is due now."""
        if id in self._due:
            self._due[id] = min(self._due[id], _now() + GRACE_S)
            self._set_timer()

    def answered(self, id: int) -> None:
        self._due.pop(id, None)

    def sign_of_life(self) -> None:
        """Record that the model works."""
        self._is_suspect = False
        self.num_hangs = 0

    def close(self) -> None:
        self._due.clear()
        self._set_timer()
        if self._check is not None:
            self._check.cancel()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        is_checking = self._check is not None and not self._check.done()
        if self._due and not is_checking:
            at = min(self._due.values())
            self._timer = asyncio.get_running_loop().call_at(at, self._look)

    def _look(self) -> None:
        if any(due <= _now() for due in self._due.values()):
            self._check = asyncio.create_task(self._ask())
            self._check.add_done_callback(lambda _: self._set_timer())
        else:
            self._set_timer()

    async def _ask(self) -> None:
        try:
            finding = await self._find()
        except EngineError:
            return  # the connection has ended, which fails all requests
        if not self._is_overdue():
            return
        if finding is None:
            later = _now() + ASK_EVERY_S
            self._due = {id: max(due, later) for id, due in self._due.items()}
        else:
            self._due.clear()
            self._is_suspect = True
            self.num_hangs += finding.hangs
            self.is_silent = finding.is_silent
            self._on_stuck(finding.reason)

    def _is_overdue(self) -> bool:
        return any(due <= _now() for due in self._due.values())

    async def _find(self) -> _Finding | None:
        """Return why no answer comes, None if the engine works or has answered meanwhile."""
        finding = None
        for pause_s in (0.0, CONFIRM_S):
            await asyncio.sleep(pause_s)
            if not self._is_overdue():
                return None
            status = await self._status()
            if status is None:
                reason = f"it has not reported its status for {self._status_s():g} s"
                return _Finding(reason, hangs=True, is_silent=True)
            if (finding := _why_quiet(status)) is None:
                return None
        return finding

    async def _status(self) -> Status | None:
        """Return the engine's status, None if it does not tell it in time."""
        asking, limit_s = asyncio.ensure_future(self._ask_status()), self._status_s()
        try:
            while True:
                started_at = _now()
                await asyncio.wait([asking], timeout=limit_s)
                if asking.done():
                    return asking.result()
                if _now() - started_at < 2 * limit_s:
                    return None
                # This process was paused, or the machine slept: that time does not count.
        finally:
            asking.cancel()

    def _status_s(self) -> float:
        return 2 * STATUS_S if self._is_suspect else STATUS_S


def _why_quiet(status: Status) -> _Finding | None:
    is_loading = status.state == "loading"
    if status.quiet_s <= (MAX_QUIET_LOAD_S if is_loading else MAX_QUIET_S):
        return None
    reason = f"its model has made no step for {status.quiet_s:.0f} s"
    return _Finding(reason, hangs=is_loading or status.quiet_s > HANGS_AFTER_S)


def _now() -> float:
    return asyncio.get_running_loop().time()


Answer: TypeAlias = Filled | NextEdits | TextScores | Status
Answered: TypeAlias = Fill | FindNextEdits | ScoreTexts | GetStatus | Preload
OnStep: TypeAlias = Callable[[Step], None]
OnLoadProgress: TypeAlias = Callable[[LoadProgress], None]

MAX_HANGS = 2
"""An engine that was found to hang this many times in a row, with no sign of life, is given up."""

MAX_UNREAD_BYTES = 1024 * 1024
"""A message without an answer is not sent to an engine that has not read this much before it."""


class ConnectionLost(EngineError):
    """The engine went away before it answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _OpenRequest:
    """A request that has no answer yet."""

    answer: asyncio.Future[Answer]
    on_step: OnStep | None


class Connection:
    """Holds several requests in flight; one task reads the answers."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        welcome: Welcome,
        on_load_progress: OnLoadProgress | None,
    ) -> None:
        self.welcome = welcome
        self._writer = writer
        self._on_load_progress = on_load_progress
        self._open: dict[int, _OpenRequest] = {}
        self._status_ids = itertools.count(-1, -1)  # a client's own ids are positive
        self._watch = AnswerWatch(self._ask_status, self._found_stuck)
        self._connection_error: str | None = None  # what the engine said before it closed
        self.is_open = True
        self._reading = asyncio.create_task(self._read(reader))

    @property
    def is_stuck(self) -> bool:
        """Whether the engine is given up: it hangs, and has to be ended."""
        return self._watch.num_hangs >= MAX_HANGS

    @property
    def is_silent(self) -> bool:
        """Whether the engine, when last asked, did not even tell its status."""
        return self._watch.is_silent

    async def ask(self, request: Answered, on_step: OnStep | None = None) -> Answer:
        """Return the answer. A cancelled await sends ``Cancel`` and does not wait for its effect.

        Raises ``FillFailed``, ``EngineStuck`` if the engine hangs, ``ConnectionLost``, or
        ``ProtocolError`` if the request is too long.
        """
        frame = to_frame(request)
        if not self.is_open:
            raise ConnectionLost("the engine has stopped")
        answer = self._expect(request.id, on_step)
        self._watch.expect(request.id, _patience_s(request))
        self._writer.write(frame)
        try:
            return await answer
        except asyncio.CancelledError:
            self._watch.expect_soon(request.id)
            self._writer.write(to_frame(Cancel(id=request.id)))
            raise
        finally:
            del self._open[request.id]

    def send_unanswered(self, message: Prefetch | AheadReport) -> None:
        """Send what has no answer, unless it is too long, or would wait for a hung engine."""
        if self._writer.transport.get_write_buffer_size() < MAX_UNREAD_BYTES:
            with contextlib.suppress(ProtocolError):
                self._writer.write(to_frame(message))

    async def _ask_status(self) -> Status:
        """Ask apart from all requests: whether this is answered is what the watch looks at."""
        id = next(self._status_ids)
        answer = self._expect(id)
        self._writer.write(to_frame(GetStatus(id=id)))
        try:
            status = await answer
        finally:
            del self._open[id]
        assert isinstance(status, Status), "the engine answers this id with its status alone"
        return status

    def _expect(self, id: int, on_step: OnStep | None = None) -> asyncio.Future[Answer]:
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[id] = _OpenRequest(answer=answer, on_step=on_step)
        return answer

    def _found_stuck(self, reason: str) -> None:
        """Fail all open requests; the connection is closed when the engine is given up."""
        self._fail_all(EngineStuck, reason)
        if self.is_stuck:
            self._end_reading()
            self._writer.transport.abort()

    async def stop_engine(self) -> None:
        """Ask the engine to end, and wait until it has closed the connection."""
        self._writer.write(to_frame(Stop()))
        await asyncio.wait([self._reading])

    def _end_reading(self) -> None:
        self.is_open = False
        self._reading.cancel()

    async def close(self) -> None:
        self._end_reading()
        await asyncio.wait([self._reading])
        self._writer.transport.abort()  # a hung engine would never take what is buffered
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        reason = "the engine stopped before it answered"
        try:
            while (message := await read_message(reader, decode_engine_message)) is not None:
                self._receive(message)
        except ProtocolError as error:
            reason = f"the engine sent something unreadable: {error}"
        except OSError:
            pass  # an engine that dies resets the connection: it has ended too
        finally:
            self.is_open = False
            self._watch.close()
            self._writer.close()
            self._fail_all(ConnectionLost, self._connection_error or reason)

    def _receive(self, message: EngineMessage) -> None:
        if not isinstance(message, Status):
            self._watch.sign_of_life()
        match message:
            case Filled() | NextEdits() | TextScores() | Status():
                self._resolve(message.id, lambda answer: answer.set_result(message))
            case Failed(id=None):
                self._connection_error = message.message
            case Failed(id=int(id)):
                failure = FillFailed(message.code, message.message)
                self._resolve(id, lambda answer: answer.set_exception(failure))
            case Step():
                self._show_step(message)
            case LoadProgress():
                self._show_progress(message)
            case _:
                raise ProtocolError(f"a second {type(message).__name__}")

    def _resolve(self, id: int, resolve: Callable[[asyncio.Future[Answer]], None]) -> None:
        self._watch.answered(id)
        request = self._open.get(id)
        if request is not None and not request.answer.done():
            resolve(request.answer)

    def _show_step(self, step: Step) -> None:
        request = self._open.get(step.id)
        if request is None or request.on_step is None or request.answer.done():
            return
        try:
            request.on_step(step)
        except Exception as error:  # noqa: BLE001 it fails the caller's request, not the reader
            request.answer.set_exception(error)
            self._writer.write(to_frame(Cancel(id=step.id)))

    def _show_progress(self, progress: LoadProgress) -> None:
        if self._on_load_progress is None:
            return
        try:
            self._on_load_progress(progress)
        except Exception as error:  # noqa: BLE001 as above; progress belongs to every open request
            for request in self._open.values():
                if not request.answer.done():
                    request.answer.set_exception(error)

    def _fail_all(self, error: type[ConnectionLost | EngineStuck], reason: str) -> None:
        for request in self._open.values():
            if not request.answer.done():
                request.answer.set_exception(error(reason))


def _patience_s(request: Answered) -> float:
    """Return how long a request may take before the engine is asked whether it works."""
    if isinstance(request, GetStatus):
        return STATUS_S
    if isinstance(request, Fill) and request.deadline_ms is not None:
        return request.deadline_ms / 1000 + GRACE_S
    return ASK_EVERY_S
