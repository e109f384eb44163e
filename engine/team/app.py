"""The HTTP interface of a team's engine, as one ASGI application.

``POST /v1/fill`` takes a ``Fill`` as JSON. It answers with ``Filled`` or ``Failed``; with ``watch``
by server-sent events, each ``Step`` first. Closing the connection cancels the fill.
``POST /v1/read-ahead`` takes a ``Prefetch``, ``GET /v1/status`` tells what a client may know. All
but ``/healthz`` and ``/readyz`` need a key, ``/metrics`` that of the user "metrics".
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from intarsia.engine.bounded_http import unless_gone
from intarsia.engine.filler import ModelInfo
from intarsia.engine.ipc.messages import (
    PROTOCOL_VERSION,
    Failed,
    FailureCode,
    Fill,
    Filled,
    Prefetch,
    Step,
)
from intarsia.engine.service.job import Answer, Job
from intarsia.engine.service.worker import Worker
from intarsia.engine.team.keys import TeamKeys
from intarsia.engine.team.metrics import CONTENT_TYPE, TeamMetrics
from intarsia.engine.team.quotas import Busy, Quotas

MAX_BODY_BYTES = 1024 * 1024
BODY_TIMEOUT_S = 20.0

PROTOCOL_HEADER = "X-Intarsia-Protocol"
METRICS_USER = "metrics"
"""The only user who may read them: read often, sums reveal size and time of single fills."""

_STATUS_OF: dict[FailureCode, int] = {
    "bad_request": 400,
    "cancelled": 503,
    "model": 500,
    "out_of_memory": 500,
    "unavailable": 503,
    "busy": 503,
    "internal": 500,
}

_Asked = TypeVar("_Asked", Fill, Prefetch)

_log = logging.getLogger(__name__)


class TeamStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to ``GET /v1/status``. It tells a user nothing of the others."""

    user: str
    protocol: int
    model: str | None  # None: not loaded yet
    dtype: str | None
    state: str
    num_waiting: int


@dataclass(kw_only=True, slots=True)
class TeamEngine:
    """The state that requests share. ``is_draining``: the engine ends soon and takes nothing on."""

    worker: Worker
    model: str  # the one name that requests may give
    keys: TeamKeys
    quotas: Quotas
    metrics: TeamMetrics
    clock: Callable[[], float] = time.monotonic
    is_draining: bool = False

    @property
    def info(self) -> ModelInfo | None:
        return self.worker.model_info


class RunningFill:
    """A fill that is submitted at once. ``close`` must follow; ``on_end`` is called by it.

    ``on_answer`` is called once, on any thread, as soon as the model works on this fill no more:
    for a fill that was closed before, too.
    """

    def __init__(
        self,
        worker: Worker,
        request: Fill,
        *,
        on_answer: Callable[[Filled | Failed], None],
        on_end: Callable[[], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self._worker = worker
        self._on_end = on_end
        self._is_closed = False
        self._arrived: asyncio.Queue[Step | Answer] = asyncio.Queue()

        def arrive(message: Step | Answer) -> None:
            if isinstance(message, Filled | Failed):
                on_answer(message)
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._arrived.put_nowait, message)

        self._job = Job(
            request=request,
            client=request.owner,
            received_at=time.monotonic(),
            deliver=arrive,
            on_step=arrive,
        )
        worker.submit(self._job)

    def close(self) -> None:
        """Cancel the fill, unless it has ended. Further calls do nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._worker.cancel(self._job)
            self._on_end()

    async def messages(self) -> AsyncIterator[Step | Filled | Failed]:
        """Yield the steps, if the request watches, and last the answer."""
        while True:
            message = await self._arrived.get()
            if isinstance(message, Step):
                yield message
            elif isinstance(message, Filled | Failed):
                yield message
                return

    async def answer(self) -> Filled | Failed:
        answer: Filled | Failed | None = None
        async for message in self.messages():
            if not isinstance(message, Step):
                answer = message
        assert answer is not None, "a job is always answered"
        return answer


def team_app(engine: TeamEngine) -> Starlette:
    """Return the application of an engine. Its worker must run."""
    app = Starlette(
        routes=[
            Route("/v1/fill", _fill, methods=["POST"]),
            Route("/v1/read-ahead", _read_ahead, methods=["POST"]),
            Route("/v1/models", _models, methods=["GET"]),
            Route("/v1/status", _status, methods=["GET"]),
            Route("/metrics", _metrics, methods=["GET"]),
            Route("/healthz", _healthy, methods=["GET"]),
            Route("/readyz", _ready, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _refused, ClientDisconnect: _gone},
    )
    app.router.redirect_slashes = False  # it would redirect to the host that a request names
    app.state.engine = engine
    return app


async def _fill(request: Request) -> Response:
    engine, user = _engine_of(request), _user_of(request)
    asked = _for_user(engine, await _read(request, Fill), user)
    if (busy := _begin(engine, user)) is not None:
        return _busy(engine, asked, busy)
    running = RunningFill(
        engine.worker,
        asked,
        on_answer=engine.metrics.answered,
        on_end=lambda: engine.quotas.end(user),
    )
    if asked.watch:
        return EventResponse(_events(running), on_end=running.close)
    try:
        answer = await unless_gone(running.answer(), request.receive)
    finally:
        running.close()
    return _json(answer, 200 if isinstance(answer, Filled) else _STATUS_OF[answer.code])


async def _events(running: RunningFill) -> AsyncIterator[bytes]:
    async for message in running.messages():
        yield event(type(message).__name__.lower(), msgspec.json.encode(message))


async def _read_ahead(request: Request) -> Response:
    engine, user = _engine_of(request), _user_of(request)
    # Above the quota its body is not even read: a refusal would have the client pause its fills.
    if not engine.is_draining and engine.quotas.may_read_ahead(user, engine.clock()):
        engine.worker.prefetch(_for_user(engine, await _read(request, Prefetch), user))
    return Response(b"{}", 202, media_type="application/json", headers=_headers())


async def _models(request: Request) -> Response:
    """List the one model, as servers of OpenAI's API do: so a client finds out what this is."""
    _user_of(request)
    row = {"id": _engine_of(request).model, "object": "model", "owned_by": "intarsia"}
    return _json({"object": "list", "data": [row]}, 200)


async def _status(request: Request) -> Response:
    engine, user = _engine_of(request), _user_of(request)
    status = TeamStatus(
        user=user,
        protocol=PROTOCOL_VERSION,
        model=engine.info.name if engine.info else None,
        dtype=engine.info.dtype if engine.info else None,
        state="draining" if engine.is_draining else engine.worker.state,
        num_waiting=engine.worker.num_waiting,
    )
    return _json(status, 200)


async def _metrics(request: Request) -> Response:
    engine, user = _engine_of(request), _user_of(request)
    if user != METRICS_USER:
        raise HTTPException(403, f"metrics show other users: they need the key of {METRICS_USER!r}")
    return Response(engine.metrics.as_text(), headers={**_headers(), "content-type": CONTENT_TYPE})


async def _healthy(request: Request) -> Response:
    is_alive = _engine_of(request).worker.is_alive
    status, text = (200, "ok\n") if is_alive else (503, "the model's thread has ended\n")
    return Response(text, status, media_type="text/plain", headers=_headers())


async def _ready(request: Request) -> Response:
    engine = _engine_of(request)
    why_not = None
    if engine.is_draining:
        why_not = "draining"
    elif not engine.worker.is_alive:
        why_not = "the model's thread has ended"
    elif engine.info is None:
        why_not = "loading"
    status, text = (200, "ready") if why_not is None else (503, why_not)
    return Response(f"{text}\n", status, media_type="text/plain", headers=_headers())


def _engine_of(request: Request) -> TeamEngine:
    engine: TeamEngine = request.app.state.engine
    return engine


def _user_of(request: Request) -> str:
    """Return the user of the key. Raises HTTPException 401."""
    engine = _engine_of(request)
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    user = engine.keys.user_of(key.strip()) if scheme.lower() == "bearer" and key else None
    if user is None:
        engine.metrics.refused("key")
        raise HTTPException(
            401, "this needs a key of this engine: send `Authorization: Bearer KEY`"
        )
    return user


async def _read(request: Request, kind: type[_Asked]) -> _Asked:
    """Read the body as JSON. Raises HTTPException, and ClientDisconnect."""
    protocol = request.headers.get(PROTOCOL_HEADER, str(PROTOCOL_VERSION))
    if protocol != str(PROTOCOL_VERSION):
        raise HTTPException(
            409, f"this engine speaks protocol {PROTOCOL_VERSION}, not {protocol[:20]}: update one"
        )
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY_BYTES:
                    raise HTTPException(413, f"at most {MAX_BODY_BYTES} bytes: send less text")
        return msgspec.json.decode(bytes(body), type=kind)
    except TimeoutError as error:
        raise HTTPException(408, f"the body took more than {BODY_TIMEOUT_S:g} s") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise HTTPException(400, f"malformed request: {error}") from error


def _for_user(engine: TeamEngine, asked: _Asked, user: str) -> _Asked:
    """Return the request as this user's, with our model. Raises HTTPException for another."""
    names = {None, engine.model, engine.info.name if engine.info else None}
    if asked.model not in names:
        raise HTTPException(400, f"this engine serves {engine.model} only: name no other model")
    return replace(asked, owner=user, model=None)


def _begin(engine: TeamEngine, user: str) -> Busy | None:
    if engine.is_draining:
        return Busy(reason="the engine is ending", retry_after_s=1, is_own=False)
    return engine.quotas.begin(user, engine.clock(), num_waiting=engine.worker.num_waiting)


def _busy(engine: TeamEngine, asked: Fill, busy: Busy) -> Response:
    engine.metrics.refused("quota" if busy.is_own else "load")
    wait_s = str(busy.retry_after_s)
    message = f"{busy.reason}: try again in {wait_s} s"
    failed = Failed(id=asked.id, code="busy", message=message)
    return _json(failed, 429 if busy.is_own else 503, {"Retry-After": wait_s})


async def _refused(request: Request, error: Exception) -> Response:
    """Answer a request that is none of ours, or not good."""
    assert isinstance(error, HTTPException)
    failed = Failed(id=None, code="bad_request", message=error.detail)
    headers = {"WWW-Authenticate": "Bearer"} if error.status_code == 401 else {}
    return _json(failed, error.status_code, {**(error.headers or {}), **headers})


async def _gone(request: Request, error: Exception) -> Response:
    """Answer a client that does not read the answer any more."""
    return Response(status_code=499)


def _json(
    answer: msgspec.Struct | dict[str, object],
    status: int,
    headers: Mapping[str, str] | None = None,
) -> Response:
    return Response(
        msgspec.json.encode(answer),
        status,
        media_type="application/json",
        headers={**_headers(), **(headers or {})},
    )


def _headers() -> dict[str, str]:
    return {PROTOCOL_HEADER: str(PROTOCOL_VERSION), "cache-control": "no-store"}


def event(name: str, data: bytes) -> bytes:
    """Return one event; the data are JSON, which has no line ends."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


class EventResponse(StreamingResponse):
    """Sends server-sent events as they come, until the last one or until the client has gone.

    ``on_end`` is called then, whatever has happened. The format:
    https://html.spec.whatwg.org/multipage/server-sent-events.html
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], *, on_end: Callable[[], None]) -> None:
        super().__init__(events, headers={"x-accel-buffering": "no", **_headers()})
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_end()
