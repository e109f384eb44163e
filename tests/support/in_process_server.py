"""The product's language server and its engine in the test's process, on the test's event loop.

All is real but the processes: client and server write JSON-RPC's bytes to each other in memory,
and where the server would start an engine's process, the engine's service starts here.
"""

import asyncio
import gc
import logging
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context, ContextVar
from functools import cache
from typing import Self
from unittest.mock import patch

import rule_engine
from cattrs import Converter
from faults.engine_faults import FAULTS
from pygls.io_ import run_async
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import make_test_lsp_client
from rule_server import RuleServer, launching

from intarsia.engine.ipc import launch
from intarsia.engine.ipc.address import Address
from intarsia.engine.service.endpoint import hold_address
from intarsia.engine.service.service import Service
from intarsia.lsp.method_table import build_server
from intarsia.lsp.server import IntarsiaServer, log_to_client

_SERVER: ContextVar[IntarsiaServer] = ContextVar("server")
"""Whose task runs."""


@asynccontextmanager
async def served_here(
    address: Address, server: RuleServer, environment: Mapping[str, str]
) -> AsyncIterator[LanguageClient]:
    """Run the server, not initialized yet; its engine ends with it."""
    variables = {**address.as_environment(), **environment}
    with patch.dict(os.environ, variables), launching(**server.options) as options:
        served = build_server(options)
        served.protocol._converter = _converter()
        with _log_sent_by(served), _engines_here() as engines:
            to_server, to_client = _Pipe(), _Pipe()
            running = asyncio.create_task(_serve(served, to_server, to_client))
            client = make_test_lsp_client()
            client.protocol._converter = _converter()
            try:
                await _connect(client, to_client, to_server)
                yield client
            finally:
                to_server.close()
                await running
                for engine in engines:
                    await engine.stop()
                await client.stop()
                gc.unfreeze()  # a server freezes what its process has loaded


@cache
def _converter() -> Converter:
    """Return what pygls makes for each client and server: it compiles code for each LSP type."""
    return default_converter()


class _Pipe:
    """One direction: any thread writes, the event loop reads."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader()
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()

    def write(self, data: bytes) -> None:
        self._here(self._feed, data)

    def close(self) -> None:
        self._here(self.reader.feed_eof)

    def _feed(self, data: bytes) -> None:
        if not self.reader.at_eof():
            self.reader.feed_data(data)

    def _here(self, call: Callable[..., None], *arguments: object) -> None:
        if threading.get_ident() == self._thread:
            call(*arguments)
        else:
            self._loop.call_soon_threadsafe(call, *arguments)


async def _connect(client: LanguageClient, read: _Pipe, written: _Pipe) -> None:
    client.protocol.set_writer(written)
    reading = run_async(
        client._stop_event,
        read.reader,
        client.protocol,
        logging.getLogger("pygls.client"),
        client.report_server_error,
    )
    client._async_tasks.append(asyncio.create_task(reading))


async def _serve(server: IntarsiaServer, read: _Pipe, written: _Pipe) -> None:
    _SERVER.set(server)
    server.protocol.set_writer(written)
    try:
        await server.serve(read.reader)
    except SystemExit:
        pass  # as at each ``exit``
    finally:
        server.shutdown()
        written.close()


@contextmanager
def _log_sent_by(server: IntarsiaServer) -> Iterator[None]:
    """Send the client what is logged in this server's tasks, and not what others here log."""
    logs = [logging.getLogger(name) for name in ("intarsia", "pygls")]
    before = [(log.handlers[:], log.level, log.propagate) for log in logs]
    log_to_client(server)
    logs[0].handlers[-1].addFilter(lambda _: _SERVER.get(None) is server)
    try:
        yield
    finally:
        for log, (handlers, level, propagate) in zip(logs, before, strict=True):
            log.handlers[:], log.propagate = handlers, propagate
            log.setLevel(level)


@contextmanager
def _engines_here() -> Iterator[Sequence["_EngineHere"]]:
    """Start engines here instead of processes; yield those that were started."""
    started: list[_EngineHere] = []

    def start(command: Sequence[str], address: Address) -> _EngineHere:
        started.append(_EngineHere(command, address))
        return started[-1]

    with patch.object(launch, "start_detached", start):
        yield started


class _EngineHere:
    """An engine of this process, as the client that has started it sees another process."""

    def __init__(self, command: Sequence[str], address: Address) -> None:
        self.log_path = address.log_path
        flags = command[command.index(rule_engine.__file__) + 1 :]
        assert not set(FAULTS) & set(re.findall(r"!\w+", " ".join(flags))), "it would end the tests"
        config, load = rule_engine.read_arguments(flags)
        self._service = Service(config, load, address, check_model=rule_engine.check_model)
        self._running = asyncio.create_task(self._run(address), context=Context())

    async def _run(self, address: Address) -> None:
        with hold_address(address):
            await self._service.run()

    async def stop(self) -> None:
        self._service.request_stop()
        await self._running

    @property
    def process(self) -> Self:
        return self

    def poll(self) -> int | None:
        return 0 if self._running.done() else None

    def last_words(self) -> str:
        return "it ended in the test's process"
