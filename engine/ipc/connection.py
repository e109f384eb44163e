"""One open connection to an engine: sends requests and gives each answer to its request, by id."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.engine.ipc.answer_watch import ASK_EVERY_S, GRACE_S, STATUS_S, AnswerWatch
from intarsia.engine.ipc.errors import EngineError, EngineStuck, FillFailed
from intarsia.engine.ipc.messages import (
    AheadReport,
    Cancel,
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
)
from intarsia.engine.ipc.transport import ProtocolError, read_message, to_frame

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
        self._reading = asyncio.create_task(self._read(reader))

    @property
    def is_open(self) -> bool:
        return not self._reading.done()

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
            self._reading.cancel()
            self._writer.transport.abort()

    async def stop_engine(self) -> None:
        """Ask the engine to end, and wait until it has closed the connection."""
        self._writer.write(to_frame(Stop()))
        await asyncio.wait([self._reading])

    async def close(self) -> None:
        self._reading.cancel()
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
