"""The table of LSP methods and the functions that answer them, and two ways to serve a client.

Most handlers are imported later than this module (``requests/lifecycle.py``).
"""

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from intarsia.lsp.protocol_extensions import (
    CONTEXT_COMMAND,
    DISMISSED,
    EDIT_COMMAND,
    EDIT_KINDS,
    IMPORTS_COMMAND,
    NEXT_EDIT_COMMAND,
    NEXT_EDIT_DONE,
    NEXT_EDIT_KIND,
    RENAMING,
)
from intarsia.lsp.requests.lifecycle import awaited, called, initialize, initialized, shutdown
from intarsia.lsp.server import IntarsiaServer, log_to_client

if TYPE_CHECKING:
    from intarsia.engine.ipc.launch import LaunchOptions

_CODE_ACTIONS = types.CodeActionOptions(
    code_action_kinds=[*EDIT_KINDS.values(), NEXT_EDIT_KIND], resolve_provider=True
)


def build_server(launch: "LaunchOptions | None" = None) -> IntarsiaServer:
    """Return a server with all its handlers.

    ``initialize`` adds completion for clients without inline completion.
    """
    server = IntarsiaServer(launch)
    server.feature(types.INITIALIZE)(initialize)
    server.feature(types.INITIALIZED)(initialized)
    server.feature(types.SHUTDOWN)(shutdown)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(
        awaited("configuration", "did_change_configuration")
    )
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(
        awaited("workspace_files", "did_change_watched_files")
    )
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(
        called("workspace_files", "did_change_workspace_folders")
    )
    server.feature(types.TEXT_DOCUMENT_DID_SAVE)(called("workspace_files", "did_save"))
    server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(
        awaited("inline_completion", "inline_completion")
    )
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _CODE_ACTIONS)(
        awaited("code_action", "code_action")
    )
    server.feature(types.CODE_ACTION_RESOLVE)(awaited("code_action", "resolve_code_action"))
    server.feature(DISMISSED)(called("inline_completion", "dismissed"))
    server.feature(NEXT_EDIT_DONE)(called("next_edit", "next_edit_done"))
    server.feature(RENAMING)(called("next_edit", "renaming"))
    server.feature("textDocument/copilotInlineEdit")(awaited("next_edit", "copilot_inline_edit"))
    for notification in ("textDocument/didShowInlineEdit", "textDocument/didFocus"):
        server.feature(notification)(called("next_edit", "ignore"))
    server.own_commands = {
        EDIT_COMMAND: partial(awaited("commands", "execute_edit"), server),
        CONTEXT_COMMAND: partial(awaited("commands", "execute_context"), server),
        IMPORTS_COMMAND: partial(awaited("commands", "execute_add_imports"), server),
        NEXT_EDIT_COMMAND: partial(awaited("next_edit", "execute_next_edit"), server),
    }
    return server


def serve_stdio(launch: "LaunchOptions | None" = None) -> int:
    """Serve one client on standard input and output; return the exit code that LSP asks for."""
    server = build_server(launch)
    log_to_client(server)
    server.start_io()
    return 0 if server.protocol.is_ending else 1


def serve_tcp(host: str, port: int, launch: "LaunchOptions | None" = None) -> int:
    """Serve one client on a TCP port, for debugging."""
    server = build_server(launch)
    log_to_client(server)
    server.start_tcp(host, port)
    return 0 if server.protocol.is_ending else 1
