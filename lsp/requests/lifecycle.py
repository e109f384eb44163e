"""From initialize to shutdown. ``initialize`` touches no grammar, no engine and no model."""

import asyncio
import gc
import importlib

from lsprotocol import types

from intarsia.lsp.engine.repository_tuning import opened_folders
from intarsia.lsp.extensions import asked_for
from intarsia.lsp.requests.completion import completion
from intarsia.lsp.requests.configuration import load_configuration
from intarsia.lsp.server import IntarsiaServer


def initialize(ls: IntarsiaServer, params: types.InitializeParams) -> None:
    """Take what the client says of itself; pygls answers with the capabilities that follow."""
    ls.session.documents.encoding = ls.position_encoding
    ls.session.extensions = asked_for(params.capabilities.experimental)
    ls.session.start_with(params.initialization_options, opened_folders(params))
    if not _shows_ghost_text(params.capabilities):
        ls.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())(completion)


async def initialized(ls: IntarsiaServer, _params: types.InitializedParams) -> None:
    """Get ready in the background, so that the first request is a quick one."""
    await load_configuration(ls)
    if ls.session.extensions.status:
        ls.session.status.start()
    ls.session.preload()
    for module in ("intarsia.lsp.requests.plan", "intarsia.lsp.edits.compute_edit"):
        await asyncio.to_thread(importlib.import_module, module)
    # What is loaded now stays: a full collection among LSP's types costs a keystroke 20 ms.
    gc.freeze()


async def shutdown(ls: IntarsiaServer, _params: None) -> None:
    """End all work; the engine goes on for others."""
    await ls.session.close()


def _shows_ghost_text(capabilities: types.ClientCapabilities) -> bool:
    """Clients with ghost text would show the same suggestion a second time in their menu."""
    text_document = capabilities.text_document
    return text_document is not None and text_document.inline_completion is not None
