"""An open remote that is a team's engine of ours: it is asked, without loss, as our own is."""

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from intarsia.engine.errors import RemoteError
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import (
    PROTOCOL_VERSION,
    Failed,
    Fill,
    Filled,
    Prefetch,
    Step,
    Timing,
)
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.fill.link import ServerLink, pieces
from intarsia.engine.remote.fill.session import FillingSession
from intarsia.engine.remote.http.connections import Watch
from intarsia.engine.remote.http.exchange import ask_json, open_exchange, require_success, unusable

_PATH = "/v1/fill"

_Message: TypeAlias = Step | Filled | Failed

_decoder: msgspec.json.Decoder[_Message] = msgspec.json.Decoder(_Message)


class TeamSession(FillingSession):
    """Fills holes on a team's engine.

    The engine itself weighs what is worth reading, and uses its own idle time.
    """

    def __init__(self, link: ServerLink, server: Server) -> None:
        self.server = server
        self._link = link

    def fill(self, request: Fill, control: FillControl) -> Filled:
        started_at = time.monotonic()
        asked = replace(request, model=None, watch=control.on_step is not None)
        if control.deadline is not None:
            left_ms = 1000 * (control.deadline - started_at)
            asked = replace(asked, deadline_ms=max(1, int(left_ms)))
        answer = self._answer(asked, control)
        if isinstance(answer, Failed):
            raise self._error(answer)
        self.model_name = answer.model
        total_ms = 1000 * (time.monotonic() - control.received_at)
        ms = answer.ms
        return replace(
            answer,
            id=request.id,
            model=self._link.remote.shown,
            ms=Timing(queue=ms.queue, prefill=ms.prefill, denoise=ms.denoise, total=total_ms),
        )

    def read_ahead(self, place: Prefetch, control: FillControl) -> None:
        """Ask the engine to read the context of a hole in its idle time. Raises RemoteError."""
        watch = self._link.watch(control.checkpoint)
        asked = replace(place, model=None, owner="")
        ask_json(self._link.remote, "/v1/read-ahead", watch, asked, self._link.kept)

    def _answer(self, asked: Fill, control: FillControl) -> Filled | Failed:
        for message in self._messages(asked, control.checkpoint):
            if not isinstance(message, Step):
                return message
            if control.on_step is not None:
                control.on_step(message)
        problem = f"{_PATH} ended without its last event"
        raise unusable(self._link.remote, problem, is_cut_off=True)

    def _messages(self, asked: Fill, checkpoint: Callable[[], None]) -> Iterator[_Message]:
        remote, watch = self._link.remote, self._link.watch(checkpoint)
        if not asked.watch:
            yield self._one_message(asked, watch)
            return
        with open_exchange(remote, _PATH, watch, asked, self._link.kept) as answer:
            for data in pieces(remote, _PATH, answer, "events"):
                message = self._parsed(data)
                answer.has_said_all = not isinstance(message, Step)
                yield message

    def _one_message(self, asked: Fill, watch: Watch) -> _Message:
        """Return the answer; where the fill itself failed, it comes with the status of an error."""
        remote = self._link.remote
        with open_exchange(remote, _PATH, watch, asked, self._link.kept) as answer:
            data = b"".join(answer.body)
        if answer.status in (400, 500) and data.startswith(b'{"type":"failed","id":'):
            message = self._parsed(data)
            if isinstance(message, Failed) and message.id is not None:
                return message
        answer.body = iter((data,))
        require_success(remote, _PATH, answer)
        return self._parsed(data)

    def _parsed(self, data: bytes) -> _Message:
        try:
            return _decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise unusable(self._link.remote, f"{_PATH} sends {error}") from error

    def _error(self, failed: Failed) -> Exception:
        """Return the error of a fill that failed there."""
        if failed.code == "bad_request":
            return ValueError(failed.message)
        code = "unavailable" if failed.code == "cancelled" else failed.code
        return RemoteError(f"remote:{self._link.remote.name}: {failed.message}", code)


def check_protocol(link: ServerLink, checkpoint: Callable[[], None]) -> None:
    """Raise RemoteError unless a team's engine speaks our protocol."""
    status: Any = ask_json(link.remote, "/v1/status", link.watch(checkpoint))
    protocol = status.get("protocol") if isinstance(status, dict) else None
    if protocol != PROTOCOL_VERSION:
        raise RemoteError(
            f"remote:{link.remote.name} speaks protocol {protocol}, this intarsia speaks "
            f"{PROTOCOL_VERSION}: update the older one",
            "model",
        )
