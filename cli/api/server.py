"""Where the API listens, which addresses it answers there, and what errors become."""

import asyncio
import contextlib
import ipaddress
import signal
import socket
import ssl
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp

from intarsia.cli.api.dialects.llama_cpp import LlamaCpp
from intarsia.cli.api.dialects.ollama import Ollama
from intarsia.cli.api.dialects.openai import OpenAI
from intarsia.cli.api.holes.filler import HoleFiller
from intarsia.cli.api.http.access import Guard, open_key_file
from intarsia.cli.api.http.read import READ_TIMEOUT_S, Refusal, error_response
from intarsia.cli.errors import CliError
from intarsia.engine.bounded_http import BoundedConfig, server_tls
from intarsia.engine.ipc.client import EngineClient, EngineError, FillFailed
from intarsia.engine.team.keys import KeyFile, KeyFileError


@dataclass(frozen=True, kw_only=True, slots=True)
class Listening:
    """A bound socket, and what clients need to be served there."""

    socket: socket.socket
    is_loopback: bool
    keys: KeyFile | None
    tls: ssl.SSLContext | None

    @property
    def port(self) -> int:
        port: int = self.socket.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """The base address to put into a client's settings."""
        host = self.socket.getsockname()[0]
        name = f"[{host}]" if ":" in host else host
        return f"{'http' if self.tls is None else 'https'}://{name}:{self.port}"


def listen(
    host: str, port: int, key_file: Path | None, tls_cert: Path | None, tls_key: Path | None
) -> Listening:
    """Check the command's options and bind the socket. Raise CliError where they do not fit."""
    address = _address(host)
    if (tls_cert is None) != (tls_key is None):
        raise CliError("TLS needs both files: give --tls-cert and --tls-key")
    if not address.is_loopback and (key_file is None or tls_cert is None):
        raise CliError(
            f"{host} is reachable from other machines, so text and keys would cross the "
            "network unencrypted: give --key-file, --tls-cert and --tls-key, or listen on 127.0.0.1"
        )
    return Listening(
        keys=_keys(key_file),
        tls=_tls(tls_cert, tls_key),
        socket=_bind(address, port),
        is_loopback=address.is_loopback,
    )


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return the address. A name could mean another one later, so only localhost is accepted."""
    try:
        return ipaddress.ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
    except ValueError as error:
        raise CliError(f"--host {host} is not an IP address: give one, such as 0.0.0.0") from error


def _keys(path: Path | None) -> KeyFile | None:
    try:
        return None if path is None else open_key_file(path)
    except KeyFileError as error:
        raise CliError(str(error)) from error


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None or key is None:
        return None
    try:
        return server_tls(certificate, key)
    except (OSError, ValueError) as error:  # SSLError is an OSError
        raise CliError(
            f"{certificate} and {key} are no certificate with its key in PEM form ({error}): "
            "name a matching pair"
        ) from error


def _bind(address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> socket.socket:
    """Return a listening socket.

    It names its protocol, unlike those of ``socket.create_server``: only then does asyncio switch
    Nagle's algorithm off, which holds the body of an answer back for 40 ms on a kept connection.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # there it would share the port with another program
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((str(address), port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise CliError(f"port {port} is unavailable ({error}): give another --port") from error
    return listener


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


_CLIENT_GONE = 499  # nginx has this number for it; the client does not read it
_NOT_FOUND = "not found: use /v1/completions, /infill or /api/generate"


def guarded_app(
    client: EngineClient, observer: EngineClient, *, keys: KeyFile | None, is_loopback: bool
) -> ASGIApp:
    """Return the app that answers with the client's fills.

    ``observer`` starts no engine. Without ``keys`` only this machine may ask.
    """
    filler = HoleFiller(client, observer)
    routes = [route for dialect in (OpenAI, LlamaCpp, Ollama) for route in dialect(filler).routes()]
    app = Starlette(
        routes=routes,
        exception_handlers=dict.fromkeys(
            (Refusal, EngineError, ClientDisconnect, HTTPException, Exception), _failed
        ),
    )
    app.router.redirect_slashes = False
    return Guard(app, keys=keys, is_loopback=is_loopback)


async def _failed(request: Request, error: Exception) -> Response:
    match error:
        case ClientDisconnect():
            return Response(status_code=_CLIENT_GONE)
        case Refusal():
            refusal = error
        case EngineError():
            is_bad = isinstance(error, FillFailed) and error.code == "bad_request"
            refusal = Refusal(400 if is_bad else 503, str(error))
        case HTTPException():
            known = {404: _NOT_FOUND, 405: f"{request.method} is not supported here"}
            message = known.get(error.status_code, error.detail)
            refusal = Refusal(error.status_code, message, error.headers)
        case _:  # tell the operator, without any text of a user
            click.echo(f"intarsia api: {type(error).__name__} at {request.url.path}", err=True)
            refusal = Refusal(500, "an error in intarsia itself")
    return error_response(refusal, request.url.path)


def run(**options: Any) -> None:
    """Serve until Ctrl-C or SIGTERM. Raise CliError where the command's options do not fit."""
    asyncio.run(_serve(listen(**options)))


async def _serve(listening: Listening) -> None:
    async with (
        EngineClient(name="api") as client,
        EngineClient(name="api", start=False) as observer,
    ):
        app = guarded_app(client, observer, keys=listening.keys, is_loopback=listening.is_loopback)
        click.echo(f"{listening.url}/v1/completions is ready; Ctrl-C ends it", err=True)
        await serve(app, listening, _interrupted())


def _interrupted() -> asyncio.Event:
    """Return an event that Ctrl-C and SIGTERM set."""
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows raises KeyboardInterrupt instead
            loop.add_signal_handler(number, interrupted.set)
    return interrupted
