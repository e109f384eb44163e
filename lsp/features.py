"""The two ways to serve a client: standard input and output, or TCP."""

from typing import TYPE_CHECKING

from intarsia.lsp.client_log import log_to_client
from intarsia.lsp.server import IntarsiaServer

if TYPE_CHECKING:
    from intarsia.engine.ipc.launch import LaunchOptions


def serve_stdio(launch: "LaunchOptions | None" = None) -> int:
    """Serve one client on standard input and output; return the exit code that LSP asks for."""
    server = IntarsiaServer(launch)
    log_to_client(server)
    server.start_io()
    return 0 if server.protocol.is_shut_down else 1


def serve_tcp(host: str, port: int, launch: "LaunchOptions | None" = None) -> int:
    """Serve one client on a TCP port, for debugging."""
    server = IntarsiaServer(launch)
    log_to_client(server)
    server.start_tcp(host, port)
    return 0 if server.protocol.is_shut_down else 1
