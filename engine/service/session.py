"""One connected client: its handshake, its requests, and its fills in flight.

Reads frames from the client's stream, gives jobs to the worker, and sends the answers. A slow
client loses drafts, never answers.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from intarsia.engine.ipc.connection import ProtocolError, read_message, to_frame
from intarsia.engine.ipc.handshake import build_id
from intarsia.engine.ipc.messages import (
    PROTOCOL_VERSION,
    AheadReport,
    Cancel,
    ClientMessage,
    EngineMessage,
    Failed,
    Fill,
    FindNextEdits,
    GetStatus,
    Hello,
    LoadProgress,
    Prefetch,
    Preload,
    Refused,
    ScoreTexts,
    Status,
    Step,
    Stop,
    Welcome,
    decode_client_message,
)
from intarsia.engine.service.job import Answer, Job, Loaded
from intarsia.engine.service.worker import Worker

MAX_DRAFTS = 8
"""If more drafts (steps and progress) than this wait, the oldest is dropped."""

MAX_MESSAGES = 4096
"""A client with more unread messages than this has stopped reading."""


class Outbox:
    """A queue: ``put`` never waits, and one task writes as fast as the client reads."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._messages: deque[EngineMessage] = deque()
        self._has_news = asyncio.Event()
        self._is_closing = False
        self._writing = asyncio.create_task(self._write())

    def put(self, message: EngineMessage) -> None:
        if self._writing.done():
            return  # the client has gone
        if isinstance(message, Step | LoadProgress):
            drafts = [one for one in self._messages if isinstance(one, Step | LoadProgress)]
            if len(drafts) >= MAX_DRAFTS:
                self._messages.remove(drafts[0])
        self._messages.append(message)
        self._has_news.set()
        if len(self._messages) > MAX_MESSAGES:
            self._give_up()

    async def close(self, patience_s: float) -> None:
        """Send the waiting messages for up to ``patience_s``, then close the connection."""
        self._is_closing = True
        self._has_news.set()
        await asyncio.wait([self._writing], timeout=patience_s)
        if not self._writing.done():
            self._give_up()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    def _give_up(self) -> None:
        self._writing.cancel()
        self._writer.transport.abort()  # close() would wait for the client to read the buffer

    async def _write(self) -> None:
        try:
            while self._messages or not self._is_closing:
                await self._has_news.wait()
                self._has_news.clear()
                while self._messages:
                    self._writer.write(to_frame(self._messages.popleft()))
                    await self._writer.drain()
        except OSError:
            pass  # the client has gone; the reader of its requests notices too
        finally:
            self._writer.close()


HANDSHAKE_TIMEOUT_S = 10.0
MAX_JOBS = 256
"""Most requests of one client in flight."""

_CLOSE_PATIENCE_S = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineHost:
    """The parts of the engine that a client's session uses."""

    token: str
    worker: Worker
    call_soon: Callable[..., None]  # runs a function on the event loop, from any thread
    status: Callable[[int], Status]  # takes the id of the request to answer
    take_report: Callable[[AheadReport], None]
    greeted_by: Callable[[str], None]  # takes the build of a client that may read the token
    request_stop: Callable[[], None]


class ClientSession:
    """Serves a client until its connection ends, then cancels its unanswered requests."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: EngineHost
    ) -> None:
        self._reader = reader
        self._outbox = Outbox(writer)
        self._host = host
        self._jobs: dict[int, Job] = {}
        self.is_welcome = False

    def send(self, message: EngineMessage) -> None:
        self._outbox.put(message)

    async def serve(self, loading: LoadProgress | None) -> None:
        """Answer until the client disconnects, breaks the protocol, or this task is cancelled.

        ``loading`` is sent after the handshake: the progress of a load that runs already.
        """
        try:
            if await self._shake_hands():
                if loading is not None:
                    self.send(loading)
                while (message := await self._read()) is not None:
                    self._take(message)
        except ProtocolError as error:
            _log.warning("closed a connection: %s", error)
            self.send(Failed(id=None, code="bad_request", message=str(error)))
        except OSError:
            pass  # the client has gone
        finally:
            for job in list(self._jobs.values()):
                self._host.worker.cancel(job)

    async def close(self) -> None:
        await self._outbox.close(_CLOSE_PATIENCE_S)

    async def _shake_hands(self) -> bool:
        try:
            async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
                hello = await self._read()
        except TimeoutError:
            return False
        if hello is None:
            return False
        if not isinstance(hello, Hello):
            raise ProtocolError("the first message must be hello")
        return self._greet(hello)

    def _greet(self, hello: Hello) -> bool:
        refusal = self._reason_to_refuse(hello)
        if self._has_token(hello):
            self._host.greeted_by(hello.build)
        if refusal is not None:
            _log.warning("refused client %r (build %r): %s", hello.client, hello.build, refusal)
            self.send(Refused(protocol=PROTOCOL_VERSION, build=build_id(), message=refusal))
            return False
        self.send(Welcome(protocol=PROTOCOL_VERSION, build=build_id(), pid=os.getpid()))
        self.is_welcome = True
        return True

    def _reason_to_refuse(self, hello: Hello) -> str | None:
        """Return the message for a client that may not connect, None for one that may."""
        if not self._has_token(hello):
            return "the token is wrong: read it again from the engine's port file"
        if hello.protocol != PROTOCOL_VERSION:
            return (
                f"the engine speaks protocol {PROTOCOL_VERSION}, the client {hello.protocol}: "
                "run `intarsia stop`, then try again"
            )
        return None

    def _has_token(self, hello: Hello) -> bool:
        return secrets.compare_digest(hello.token.encode(), self._host.token.encode())

    def _take(self, message: ClientMessage) -> None:
        match message:
            case Fill() | FindNextEdits() | ScoreTexts() | Preload():
                self._submit(message)
            case Cancel():
                if job := self._jobs.get(message.id):
                    self._host.worker.cancel(job)
            case Prefetch():
                self._host.worker.prefetch(message)
            case AheadReport():
                self._host.take_report(message)
            case GetStatus():
                self.send(self._host.status(message.id))
            case Stop():
                self._host.request_stop()
            case Hello():
                raise ProtocolError("a second hello")

    def _submit(self, request: Fill | FindNextEdits | ScoreTexts | Preload) -> None:
        if problem := self._problem_with(request.id):
            self.send(Failed(id=request.id, code="bad_request", message=problem))
            return
        post = self._host.call_soon
        job = Job(
            request=request,
            client=self,
            received_at=time.monotonic(),
            deliver=lambda answer: post(self._finish, answer),
            on_step=lambda step: post(self.send, step),
        )
        self._jobs[request.id] = job
        self._host.worker.submit(job)

    def _problem_with(self, id: int) -> str | None:
        if id in self._jobs:
            return f"a request with the id {id} is in flight: give each request its own id"
        if len(self._jobs) >= MAX_JOBS:
            return f"{MAX_JOBS} requests are in flight: wait for answers, or cancel some"
        return None

    def _finish(self, answer: Answer) -> None:
        if answer.id is not None:
            self._jobs.pop(answer.id, None)
        self.send(self._host.status(answer.id) if isinstance(answer, Loaded) else answer)

    async def _read(self) -> ClientMessage | None:
        return await read_message(self._reader, decode_client_message)
