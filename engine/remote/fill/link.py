"""Ask one server for tokens. Every fault becomes a RemoteError, and a server in trouble is spared.

After a fault the server is not asked for a few seconds, or for as long as it said: a user types
several keys a second, and each would wait for the same fault.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from intarsia.engine.errors import Cancelled, RemoteError
from intarsia.engine.fill_control import FillControl
from intarsia.engine.remote.dialects.generation import (
    AnswerForm,
    Chunk,
    Dialect,
    ServerBusy,
    UnusableAnswer,
)
from intarsia.engine.remote.http.connections import POLL_S, Answer, KeptConnections, Watch
from intarsia.engine.remote.http.exchange import open_exchange, require_success, unusable
from intarsia.engine.remote.http.remotes import Remote

WAITS_S = (0.1, 0.4)
"""Waits before the second and the third try: a balancer soon notices that a server has ended."""

WITHIN_S = 5.0
"""After this time a request is not sent again: the user has waited long enough."""

_Answer = TypeVar("_Answer")

PAUSE_S = 3.0
"""How long a server is not asked after a fault."""

_MAX_PAUSE_S = 60.0
_TOTAL_FACTOR = 10  # an exchange may take this many times as long as a server may be silent


class ServerLink:
    """The way to one server."""

    def __init__(self, remote: Remote) -> None:
        self.remote = remote
        self.kept = KeptConnections(remote)
        self._fault: RemoteError | None = None
        self._paused_until = 0.0

    def watch(self, checkpoint: Callable[[], None]) -> Watch:
        """Return the watch of one exchange."""
        silence_s = self.remote.timeout_s
        return Watch(checkpoint=checkpoint, silence_s=silence_s, total_s=_TOTAL_FACTOR * silence_s)

    @contextmanager
    def spared(self) -> Iterator[None]:
        """Refuse the block during a pause, and pause after a RemoteError in it."""
        if self._fault is not None and time.monotonic() < self._paused_until:
            raise RemoteError(str(self._fault), self._fault.code)
        try:
            yield
        except RemoteError as error:
            pause_s = PAUSE_S if error.retry_after_s is None else error.retry_after_s
            self._fault = error.with_traceback(None)
            self._paused_until = time.monotonic() + min(pause_s, _MAX_PAUSE_S)
            raise
        self._fault = None

    def stream(
        self, dialect: Dialect, request: object, checkpoint: Callable[[], None]
    ) -> Generator[Chunk]:
        """Yield an answer's pieces. Closing cancels it.

        Raises RemoteError, and what ``checkpoint`` raises.
        """
        remote, path, watch = self.remote, dialect.path, self.watch(checkpoint)
        body = dialect.body(request)
        form = dialect.form if body["stream"] else "whole"
        with open_exchange(remote, path, watch, body, self.kept) as answer:
            for data in pieces(remote, path, answer, form):
                try:
                    chunk = dialect.parse(data)
                except UnusableAnswer as error:
                    raise unusable(remote, str(error)) from error
                except ServerBusy as error:
                    busy = f"{remote.shown} is busy ({error}): try again later"
                    raise RemoteError(busy, "busy") from error
                if chunk is None:
                    continue
                answer.has_said_all = chunk.is_last
                yield chunk
                if chunk.is_last:
                    return
        problem = f"{path} ended without its last event"
        raise unusable(remote, problem, is_cut_off=True)


def pieces(remote: Remote, path: str, answer: Answer, form: AnswerForm) -> Iterator[bytes]:
    """Yield an answer's events, lines, or all of it. Raises RemoteError for any other answer."""
    require_success(remote, path, answer)
    match form:
        case "events":
            if not answer.headers.get("content-type", "").startswith("text/event-stream"):
                raise unusable(remote, f"{path} is no stream of events")
            yield from _event_data(answer.body)
        case "lines":
            yield from filter(None, map(bytes.strip, _lines(answer.body)))
        case "whole":
            yield b"".join(answer.body)


def _event_data(body: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the data of each event: lines of the form ``data: …``, one for each event."""
    for line in _lines(body):
        if line.startswith(b"data:"):
            yield line[5:].strip()
        elif line.startswith(b"error:"):
            yield line[6:].strip()


def _lines(body: Iterator[bytes]) -> Iterator[bytes]:
    """Yield each whole line without its line end. A line may come in millions of pieces."""
    begun: list[bytes] = []
    for piece in body:
        first, *others = piece.split(b"\n")
        begun.append(first)
        if others:
            yield b"".join(begun)
            yield from others[:-1]
            begun = [others[-1]]


def ask_again(ask: Callable[[], _Answer], control: FillControl) -> _Answer:
    """Return what ``ask`` returns, at the second or third try if the first were cut off.

    Several servers may share one address, and then another one answers: the user need not see that.
    Nothing was changed by the request that was cut off. A server that refuses, is busy or is slow
    is not asked again: that would make matters worse.

    Raises what the last try raises, and what the control's checkpoint raises.
    """
    started_at = time.monotonic()
    for wait_s in WAITS_S:
        try:
            return ask()
        except RemoteError as error:
            is_long_ago = time.monotonic() - started_at > WITHIN_S
            if not error.is_cut_off or is_long_ago or control.is_late:
                raise
        _wait(wait_s, control.checkpoint)
    return ask()


def _wait(seconds: float, checkpoint: Callable[[], None]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        checkpoint()
        time.sleep(min(left, POLL_S))


def ask_at_once(
    asks: Sequence[Callable[[Callable[[], None]], _Answer]], checkpoint: Callable[[], None]
) -> list[_Answer]:
    """Return the answers in order. Each function is called on a thread with its own checkpoint.

    So the server runs them in the same passes, and they share the network's delay.

    ``checkpoint`` is called on this thread while they wait. What it or a request raises is raised
    here, after all other requests are closed.
    """
    is_over = threading.Event()

    def thread_checkpoint() -> None:
        if is_over.is_set():
            raise Cancelled

    with ThreadPoolExecutor(max(len(asks), 1), "canvas") as threads:
        try:
            futures = [threads.submit(ask, thread_checkpoint) for ask in asks]
            while True:
                done, waiting = wait(futures, timeout=POLL_S, return_when=FIRST_EXCEPTION)
                answers = [future.result() for future in futures if future in done]
                if not waiting:
                    return answers
                checkpoint()
        finally:
            is_over.set()
