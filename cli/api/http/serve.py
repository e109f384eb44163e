"""Runs an ASGI app on a bound socket with uvicorn, until it is told to end."""

import asyncio
import contextlib
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

from intarsia.cli.api.http.listen import Listening
from intarsia.cli.api.http.read import READ_TIMEOUT_S
from intarsia.engine.bounded_http import BoundedConfig

MAX_CONNECTIONS = 256

KEPT_S = 30
"""An idle connection is kept this long, for a user who stops typing to think."""
END_WITHIN_S = 1
"""Requests that are open at the end have this long. Then they are cancelled, and so are fills."""


class ApiServer(uvicorn.Server):
    """A server that serves until ``end`` is set. Without requests it sleeps.

    uvicorn's own looks ten times a second whether a signal has come, and takes signals from its
    caller.
    """

    def __init__(self, config: uvicorn.Config, end: asyncio.Event) -> None:
        super().__init__(config)
        self._end = end

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._end.wait()


async def serve(app: ASGIApp, listening: Listening, end: asyncio.Event) -> None:
    """Serve until ``end`` is set."""
    config = BoundedConfig(
        app,
        tls=listening.tls,
        max_connections=MAX_CONNECTIONS,
        patience_s=READ_TIMEOUT_S,
        log_level="critical",
        timeout_keep_alive=KEPT_S,
        timeout_graceful_shutdown=END_WITHIN_S,
    )
    await ApiServer(config, end).serve(sockets=[listening.socket])
