"""The table of LSP methods and the functions that answer them, and two ways to serve a client."""

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from intarsia.lsp.client_log import log_to_client
from intarsia.lsp.edits.edit_arguments import EDIT_COMMAND
from intarsia.lsp.requests.code_action import OPTIONS, code_action, resolve_code_action
from intarsia.lsp.requests.configuration import did_change_configuration
from intarsia.lsp.requests.context_command import CONTEXT_COMMAND, execute_context
from intarsia.lsp.requests.edit_command import execute_edit
from intarsia.lsp.requests.inline_completion import inline_completion
from intarsia.lsp.requests.lifecycle import initialize, initialized, shutdown
from intarsia.lsp.requests.workspace_files import (
    did_change_watched_files,
    did_change_workspace_folders,
    did_save,
)
from intarsia.lsp.server import IntarsiaServer

if TYPE_CHECKING:
    from intarsia.engine.ipc.launch import LaunchOptions


def build_server(launch: "LaunchOptions | None" = None) -> IntarsiaServer:
    """Return a server with all its handlers.

    ``initialize`` adds completion for clients without inline completion.
    """
    server = IntarsiaServer(launch)
    server.feature(types.INITIALIZE)(initialize)
    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.SHUTDOWN)(shutdown)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(did_change_configuration)
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(did_change_watched_files)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(did_change_workspace_folders)
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(did_save)
    server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(
        inline_completion
    )
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, OPTIONS)(code_action)
    server.feature(types.CODE_ACTION_RESOLVE)(resolve_code_action)
    server.own_commands = {
        EDIT_COMMAND: partial(execute_edit, server),
        CONTEXT_COMMAND: partial(execute_context, server),
    }
    return server


def serve_stdio(launch: "LaunchOptions | None" = None) -> int:
    """Serve one client on standard input and output; return the exit code that LSP asks for."""
    server = build_server(launch)
    log_to_client(server)
    server.start_io()
    return 0 if server.protocol.is_shut_down else 1


def serve_tcp(host: str, port: int, launch: "LaunchOptions | None" = None) -> int:
    """Serve one client on a TCP port, for debugging."""
    server = build_server(launch)
    log_to_client(server)
    server.start_tcp(host, port)
    return 0 if server.protocol.is_shut_down else 1
