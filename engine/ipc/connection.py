"""One open connection to an engine: sends requests and gives each answer to its request, by id.

Knows neither how an engine is started nor when to connect again.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from intarsia.engine.ipc.errors import EngineError, FillFailed
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
        self._connection_error: str | None = None  # what the engine said before it closed
        self._reading = asyncio.create_task(self._read(reader))

    @property
    def is_open(self) -> bool:
        return not self._reading.done()

    async def ask(
        self,
        request: Answered,
        on_step: OnStep | None = None,
    ) -> Answer:
        """Return the answer. A cancelled await sends ``Cancel`` and does not wait for its effect.

        Raises ``FillFailed``, ``ConnectionLost``, or ``ProtocolError`` if the request is too long.
        """
        frame = to_frame(request)
        if not self.is_open:
            raise ConnectionLost("the engine has stopped")
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[request.id] = _OpenRequest(answer=answer, on_step=on_step)
        self._writer.write(frame)
        try:
            return await answer
        except asyncio.CancelledError:
            self._writer.write(to_frame(Cancel(id=request.id)))
            raise
        finally:
            del self._open[request.id]

    def send_prefetch(self, place: Prefetch) -> None:
        """Send the place, which has no answer; one that is too long for a frame is not sent."""
        with contextlib.suppress(ProtocolError):
            self._writer.write(to_frame(place))

    def send_ahead_report(self, report: AheadReport) -> None:
        """Send the report, which has no answer."""
        self._writer.write(to_frame(report))

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
            self._writer.close()
            self._fail_all(self._connection_error or reason)

    def _receive(self, message: EngineMessage) -> None:
        match message:
            case Filled() | NextEdits() | TextScores() | Status():
                self._resolve(message.id, lambda answer: answer.set_result(message))
            case Failed(id=None):
                self._connection_error = message.message
            case Failed():
                failure = FillFailed(message.code, message.message)
                self._resolve(message.id, lambda answer: answer.set_exception(failure))
            case Step():
                self._show_step(message)
            case LoadProgress():
                self._show_progress(message)
            case _:
                raise ProtocolError(f"a second {type(message).__name__}")

    def _resolve(self, id: int | None, resolve: Callable[[asyncio.Future[Answer]], None]) -> None:
        request = self._open.get(id) if id is not None else None
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

    def _fail_all(self, reason: str) -> None:
        for request in self._open.values():
            if not request.answer.done():
                request.answer.set_exception(ConnectionLost(reason))
