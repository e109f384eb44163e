"""The table of LSP methods and the functions that answer them, and two ways to serve a client.

An editor waits for ``initialize``: it loads no grammar and starts no engine, and most handlers are
imported right after ``initialized``.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from intarsia.lsp.documents import opened_folders
from intarsia.lsp.protocol_extensions import (
    CONTEXT_COMMAND,
    DISMISSED,
    EDIT_COMMAND,
    EDIT_KINDS,
    IMPORTS_COMMAND,
    NEXT_EDIT_COMMAND,
    NEXT_EDIT_DONE,
    NEXT_EDIT_KIND,
    RENAME_COMMAND,
    RENAMING,
    requested_extensions,
)
from intarsia.lsp.server import IntarsiaServer, log_to_client

if TYPE_CHECKING:
    from intarsia.engine.ipc.launch import LaunchOptions


def loaded(module: str, name: str) -> Any:
    """Return what a module of ``lsp/`` calls ``name``; only here are any of them loaded late."""
    return getattr(import_module(f"intarsia.lsp.{module}"), name)


def called(module: str, name: str) -> Callable[[IntarsiaServer, Any], Any]:
    """Return a function that calls ``name`` of this module in ``lsp/requests/``."""

    def handler(ls: IntarsiaServer, params: Any) -> Any:
        return loaded(f"requests.{module}", name)(ls, params)

    return handler


def awaited(module: str, name: str) -> Callable[[IntarsiaServer, Any], Awaitable[Any]]:
    """Return the same for a coroutine function."""
    call = called(module, name)

    async def handler(ls: IntarsiaServer, params: Any) -> Any:
        return await call(ls, params)

    return handler


WARM_UP = tuple(
    f"intarsia.lsp.requests.{module}"
    for module in ("inline_completion", "completion", "look_ahead", "code_action")
)
"""Imported after ``initialized``, before the first request: the answer to ``initialize`` needs
none of these."""

LISTENING = (
    ("manners", "Manners"),
    ("next_edits.next_edits", "NextEdits"),
    ("project.project_contexts", "ProjectContexts"),
    ("requests.look_ahead", "LookAhead"),
)
"""The features that hear of every change, not only once they are used."""


def initialize(ls: IntarsiaServer, params: types.InitializeParams) -> None:
    """Adopt the client's capabilities and options; pygls answers with the server's capabilities."""
    ls.session.documents.encoding = ls.position_encoding
    ls.session.extensions = requested_extensions(params.capabilities.experimental)
    ls.session.start_with(params.initialization_options, opened_folders(params))
    text_document = params.capabilities.text_document
    shows_ghost_text = text_document is not None and text_document.inline_completion is not None
    if not shows_ghost_text:  # else the menu would show the same suggestion again
        ls.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())(
            awaited("completion", "completion")
        )


async def initialized(ls: IntarsiaServer, _params: types.InitializedParams) -> None:
    """Load the settings, the model and the grammars, so that the first request is quick."""
    await loaded("requests.configuration", "initialized")(ls)
    await loaded("requests.workspace_files", "watch_files")(ls)
    for module in WARM_UP:
        await asyncio.to_thread(import_module, module)
    # Loaded modules stay: a full collection over LSP's types would cost a keystroke 20 ms.
    gc.freeze()


async def shutdown(ls: IntarsiaServer, _params: None) -> None:
    """End all work. The engine keeps running for other clients."""
    await ls.session.close()


_CODE_ACTIONS = types.CodeActionOptions(
    code_action_kinds=[*EDIT_KINDS.values(), NEXT_EDIT_KIND], resolve_provider=True
)


def build_server(launch: "LaunchOptions | None" = None) -> IntarsiaServer:
    """Return a server with all its handlers.

    ``initialize`` adds completion for clients without inline completion.
    """
    server = IntarsiaServer(launch)
    server.session.features.listening = lambda: [loaded(*row) for row in LISTENING]
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
        called("configuration", "did_change_workspace_folders")
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
        RENAME_COMMAND: partial(awaited("next_edit", "execute_rename"), server),
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
