"""Ask one server for tokens. Every fault becomes a RemoteError, and a server in trouble is spared.

After a fault the server is not asked for a few seconds, or for as long as it said: a user types
several keys a second, and each would wait for the same fault.
"""

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from intarsia.engine.errors import RemoteError
from intarsia.engine.remote.dialects.generation import (
    Chunk,
    Dialect,
    Generation,
    ServerBusy,
    Streams,
    UnusableAnswer,
)
from intarsia.engine.remote.dialects.text_generation import (
    AnswerForm,
    TextChunk,
    TextDialect,
    TextGeneration,
)
from intarsia.engine.remote.fill.answer_pieces import pieces
from intarsia.engine.remote.http.exchange import open_exchange, unusable
from intarsia.engine.remote.http.kept_connections import KeptConnections
from intarsia.engine.remote.http.watch import Watch
from intarsia.engine.remote.settings.remotes import Remote

_Piece = TypeVar("_Piece", Chunk, TextChunk)

PAUSE_S = 3.0
"""How long a server is not asked after a fault."""

_MAX_PAUSE_S = 60.0
_TOTAL_FACTOR = 10  # an exchange may take this many times as long as a server may be silent


class ServerLink:
    """The way to one server. ``clock`` returns seconds, as time.monotonic does."""

    def __init__(self, remote: Remote, clock: Callable[[], float] = time.monotonic) -> None:
        self.remote = remote
        self.kept = KeptConnections()
        self._clock = clock
        self._fault: RemoteError | None = None
        self._paused_until = 0.0

    def watch(self, checkpoint: Callable[[], None]) -> Watch:
        """Return the watch of one exchange."""
        silence_s = self.remote.timeout_s
        return Watch(checkpoint=checkpoint, silence_s=silence_s, total_s=_TOTAL_FACTOR * silence_s)

    @contextmanager
    def spared(self) -> Iterator[None]:
        """Refuse the block during a pause, and pause after a RemoteError in it."""
        if self._fault is not None and self._clock() < self._paused_until:
            raise RemoteError(str(self._fault), self._fault.code)
        try:
            yield
        except RemoteError as error:
            pause_s = PAUSE_S if error.retry_after_s is None else error.retry_after_s
            self._fault = error.with_traceback(None)
            self._paused_until = self._clock() + min(pause_s, _MAX_PAUSE_S)
            raise
        self._fault = None

    def generate(
        self, dialect: Dialect, generation: Generation, checkpoint: Callable[[], None]
    ) -> Generator[Chunk]:
        """Return the pieces of an answer; closing the iterator cancels the request.

        Raises RemoteError, and what ``checkpoint`` raises.
        """
        return self.stream(dialect, dialect.body(generation), checkpoint)

    def stream(
        self, dialect: Streams, body: Mapping[str, Any], checkpoint: Callable[[], None]
    ) -> Generator[Chunk]:
        """Yield the pieces of the answer to a request's JSON, as ``generate`` does."""
        form: AnswerForm = "events" if body["stream"] else "whole"
        return self._chunks(dialect.path, form, body, checkpoint, dialect.parse)

    def generate_text(
        self, dialect: TextDialect, generation: TextGeneration, checkpoint: Callable[[], None]
    ) -> Generator[TextChunk]:
        """Yield the pieces of an answer as ``generate`` does, from a server that takes text."""
        return self._chunks(
            dialect.path, dialect.form, dialect.body(generation), checkpoint, dialect.parse
        )

    def _chunks(
        self,
        path: str,
        form: AnswerForm,
        body: Mapping[str, Any],
        checkpoint: Callable[[], None],
        parse: Callable[[bytes], _Piece | None],
    ) -> Generator[_Piece]:
        """Yield the parsed pieces of an answer up to the last one."""
        remote, watch = self.remote, self.watch(checkpoint)
        with open_exchange(remote, path, watch, body, self.kept) as answer:
            for data in pieces(remote, path, answer, form):
                chunk = self._parsed(parse, data)
                if chunk is None:
                    continue
                answer.has_said_all = chunk.is_last
                yield chunk
                if chunk.is_last:
                    return
        problem = f"{path} ended without its last event"
        raise unusable(remote, problem, is_cut_off=True)

    def _parsed(self, parse: Callable[[bytes], _Piece | None], data: bytes) -> _Piece | None:
        try:
            return parse(data)
        except UnusableAnswer as error:
            raise unusable(self.remote, str(error)) from error
        except ServerBusy as error:
            raise RemoteError(
                f"remote:{self.remote.name} at {self.remote.address.shown} is busy ({error}): "
                "try again later",
                "busy",
            ) from error
