"""One open connection to an engine: requests go out, answers come back to whoever asked, by id.

Knows neither how an engine is started nor when to try again.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from intarsia.engine.ipc.errors import EngineError, FillFailed
from intarsia.engine.ipc.messages import (
    Cancel,
    EngineMessage,
    Failed,
    Fill,
    Filled,
    GetStatus,
    LoadProgress,
    Prefetch,
    Preload,
    Status,
    Step,
    Stop,
    Welcome,
    decode_engine_message,
)
from intarsia.engine.ipc.transport import ProtocolError, read_message, to_frame


class ConnectionLost(EngineError):
    """The engine went away before it answered."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Waiting:
    """A request that is not answered yet."""

    answer: asyncio.Future[Filled | Status]
    on_step: Callable[[Step], None] | None


class Connection:
    """Several requests may be in flight; one task reads and hands the answers out."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        welcome: Welcome,
        on_load_progress: Callable[[LoadProgress], None] | None,
    ) -> None:
        self.welcome = welcome
        self._writer = writer
        self._on_load_progress = on_load_progress
        self._waiting: dict[int, _Waiting] = {}
        self._last_complaint: str | None = None
        self._reading = asyncio.create_task(self._read(reader))

    @property
    def is_open(self) -> bool:
        return not self._reading.done()

    async def ask(
        self,
        request: Fill | GetStatus | Preload,
        on_step: Callable[[Step], None] | None = None,
    ) -> Filled | Status:
        """Send and wait. A cancelled await sends ``Cancel`` and does not wait for its effect."""
        frame = to_frame(request)
        if not self.is_open:
            raise ConnectionLost("the engine has stopped")
        answer: asyncio.Future[Filled | Status] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = _Waiting(answer=answer, on_step=on_step)
        self._writer.write(frame)
        try:
            return await answer
        except asyncio.CancelledError:
            self._writer.write(to_frame(Cancel(id=request.id)))
            raise
        finally:
            del self._waiting[request.id]

    def tell(self, place: Prefetch) -> None:
        """Send what is not answered; of one too long for a frame nothing is sent."""
        with contextlib.suppress(ProtocolError):
            self._writer.write(to_frame(place))

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
                self._hand_out(message)
        except ProtocolError as error:
            reason = f"the engine sent something unreadable: {error}"
        except OSError:
            pass  # reset by a dying engine: the same as its end
        finally:
            self._writer.close()
            self._fail_all(self._last_complaint or reason)

    def _hand_out(self, message: EngineMessage) -> None:
        match message:
            case Filled() | Status():
                self._settle(message.id, lambda answer: answer.set_result(message))
            case Failed(id=None):
                self._last_complaint = message.message
            case Failed():
                failure = FillFailed(message.code, message.message)
                self._settle(message.id, lambda answer: answer.set_exception(failure))
            case Step():
                self._show_step(message)
            case LoadProgress():
                self._show_progress(message)
            case _:
                raise ProtocolError(f"a second {type(message).__name__}")

    def _settle(
        self, id: int | None, settle: Callable[[asyncio.Future[Filled | Status]], None]
    ) -> None:
        waiting = self._waiting.get(id) if id is not None else None
        if waiting is not None and not waiting.answer.done():
            settle(waiting.answer)

    def _show_step(self, step: Step) -> None:
        waiting = self._waiting.get(step.id)
        if waiting is None or waiting.on_step is None or waiting.answer.done():
            return
        try:
            waiting.on_step(step)
        except Exception as error:  # noqa: BLE001 a caller's fault is the caller's, not the reader's
            waiting.answer.set_exception(error)
            self._writer.write(to_frame(Cancel(id=step.id)))

    def _show_progress(self, progress: LoadProgress) -> None:
        if self._on_load_progress is None:
            return
        try:
            self._on_load_progress(progress)
        except Exception as error:  # noqa: BLE001 as above; progress belongs to everyone who waits
            for waiting in self._waiting.values():
                if not waiting.answer.done():
                    waiting.answer.set_exception(error)

    def _fail_all(self, reason: str) -> None:
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(ConnectionLost(reason))
