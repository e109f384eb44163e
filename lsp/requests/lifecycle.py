"""``initialize``, ``initialized`` and ``shutdown``.

An editor waits for ``initialize``: it loads no grammar and starts no engine, and most handlers are
imported right after ``initialized``.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from lsprotocol import types

from intarsia.lsp.documents.folders import opened_folders
from intarsia.lsp.protocol_extensions import requested_extensions
from intarsia.lsp.server import IntarsiaServer


def called(module: str, name: str) -> Callable[[IntarsiaServer, Any], Any]:
    """Return a function that calls ``name`` of this module in ``lsp/requests/``."""

    def handler(ls: IntarsiaServer, params: Any) -> Any:
        return getattr(import_module(f"intarsia.lsp.requests.{module}"), name)(ls, params)

    return handler


def awaited(module: str, name: str) -> Callable[[IntarsiaServer, Any], Awaitable[Any]]:
    """Return the same for a coroutine function."""
    call = called(module, name)

    async def handler(ls: IntarsiaServer, params: Any) -> Any:
        return await call(ls, params)

    return handler


WARM_UP = (
    "intarsia.lsp.requests.inline_completion",
    "intarsia.lsp.requests.completion",
    "intarsia.lsp.requests.plan",
    "intarsia.lsp.project.project_contexts",
    "intarsia.lsp.project.needed_imports",
    "intarsia.lsp.requests.code_action",
    "intarsia.lsp.manners.manners",
    "intarsia.infill.syntax.prose",
    "intarsia.lsp.statistics.recorder",
    "intarsia.lsp.edits.compute_edit",
    "intarsia.lsp.next_edits.next_edits",
    "psutil",
)
"""Imported after ``initialized``, before the first request: the answer to ``initialize`` needs
none of these."""


def initialize(ls: IntarsiaServer, params: types.InitializeParams) -> None:
    """Take the client's capabilities and options; pygls answers with the server's capabilities."""
    ls.session.documents.encoding = ls.position_encoding
    ls.session.extensions = requested_extensions(params.capabilities.experimental)
    ls.session.start_with(params.initialization_options, opened_folders(params))
    if not _shows_ghost_text(params.capabilities):
        ls.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())(
            awaited("completion", "completion")
        )


async def initialized(ls: IntarsiaServer, _params: types.InitializedParams) -> None:
    """Load the settings, the model and the grammars, so that the first request is quick."""
    from intarsia.lsp.requests.configuration import load_configuration
    from intarsia.lsp.requests.workspace_files import watch_files

    await load_configuration(ls)
    if ls.session.extensions.status:
        ls.session.status.start()
    ls.session.preload()
    await watch_files(ls)
    for module in WARM_UP:
        await asyncio.to_thread(import_module, module)
    # Loaded modules stay: a full collection over LSP's types would cost a keystroke 20 ms.
    gc.freeze()


async def shutdown(ls: IntarsiaServer, _params: None) -> None:
    """End all work. The engine keeps running for other clients."""
    await ls.session.close()


def _shows_ghost_text(capabilities: types.ClientCapabilities) -> bool:
    """Whether the client shows ghost text: its menu would show the same suggestion again."""
    text_document = capabilities.text_document
    return text_document is not None and text_document.inline_completion is not None
