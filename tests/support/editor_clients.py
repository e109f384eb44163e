"""Editors as the server sees them: pytest-lsp clients that declare what the real ones declare."""

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from in_process_server import served_here
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from rule_server import RuleServer, rule_server

from intarsia.engine.ipc.address import Address

Server: TypeAlias = Sequence[str] | RuleServer
"""The command of a process, or a server for the test's own process."""

SERVER = (sys.executable, "-m", "intarsia.lsp")
EMPTY: Mapping[str, str] = MappingProxyType({})


def vscode() -> types.InitializeParams:
    """VS Code with vscode-languageclient 10: ghost text, UTF-16 only, settings on request."""
    capabilities = deepcopy(_read_capabilities("visual-studio-code"))
    capabilities.text_document.inline_completion = types.InlineCompletionClientCapabilities(
        dynamic_registration=True
    )
    capabilities.notebook_document = types.NotebookDocumentClientCapabilities(
        types.NotebookDocumentSyncClientCapabilities(dynamic_registration=True)
    )
    return types.InitializeParams(
        capabilities=capabilities, client_info=types.ClientInfo("Visual Studio Code", "1.105.0")
    )


def neovim() -> types.InitializeParams:
    """Neovim 0.11: no ghost text of its own; offers UTF-8 first."""
    return types.InitializeParams(
        capabilities=deepcopy(_read_capabilities("neovim@0.11.0")),
        client_info=types.ClientInfo("Neovim", "0.11.4"),
    )


_read_capabilities = cache(client_capabilities)


@asynccontextmanager
async def connected(
    address: Address, server: Server = SERVER, *, environment: Mapping[str, str] = EMPTY
) -> AsyncIterator[LanguageClient]:
    """Run a server, not initialized yet; it is ended with the block if it still runs."""
    async with (
        served_here(address, server, environment)
        if isinstance(server, RuleServer)
        else _child(address, server, environment)
    ) as client:
        client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
        yield client


@asynccontextmanager
async def _child(
    address: Address, command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[LanguageClient]:
    environment = {**os.environ, **address.as_environment(), **environment}
    config = ClientServerConfig(server_command=list(command), server_env=environment)
    client = await config.start()
    assert isinstance(client, LanguageClient)
    try:
        yield client
    finally:
        with contextlib.suppress(ProcessLookupError):
            client._server.kill()
        await client._server.wait()
        await client.stop()


async def initialize(client: LanguageClient, who: types.InitializeParams) -> types.InitializeResult:
    """Send initialize alone, without ``initialized`` after it."""
    client.capabilities = who.capabilities
    return await client.initialize_async(who)


@asynccontextmanager
async def editing(
    who: types.InitializeParams,
    address: Address,
    *,
    server: Server = SERVER,
    options: Mapping[str, Any] | None = None,
    configuration: object = None,
) -> AsyncIterator[LanguageClient]:
    """Run a server for this editor, initialized; shut it down in order at the end."""
    async with connected(address, server) as client:
        if configuration is not None:
            client.set_configuration(configuration, section="intarsia")
        who.initialization_options = options
        await client.initialize_session(who)
        yield client
        async with asyncio.timeout(20):
            await client.shutdown_session()


def open_document(client: LanguageClient, place: str, text: str, language: str = "python") -> str:
    """Open version 1 of a document: a URI, or a file's name (it need not exist); return its URI."""
    uri = place if ":" in place else (Path(tempfile.gettempdir()) / place).as_uri()
    item = types.TextDocumentItem(uri, language, 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return uri


def change_document(client: LanguageClient, uri: str, text: str, version: int) -> None:
    identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
    change = types.TextDocumentContentChangeWholeDocument(text=text)
    client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))


def insert(client: LanguageClient, uri: str, at: types.Position, text: str, version: int) -> None:
    replace(client, uri, types.Range(at, at), text, version)


def replace(client: LanguageClient, uri: str, where: types.Range, text: str, version: int) -> None:
    """Replace a part of the document, as an incremental change."""
    identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
    change = types.TextDocumentContentChangePartial(where, text)
    client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))


def ask_inline(
    uri: str,
    line: int,
    character: int,
    *,
    is_invoked: bool = False,
    selected: types.SelectedCompletionInfo | None = None,
) -> types.InlineCompletionParams:
    kind = types.InlineCompletionTriggerKind
    return types.InlineCompletionParams(
        context=types.InlineCompletionContext(
            trigger_kind=kind.Invoked if is_invoked else kind.Automatic,
            selected_completion_info=selected,
        ),
        text_document=types.TextDocumentIdentifier(uri),
        position=types.Position(line, character),
    )


async def inline_items(
    client: LanguageClient, params: types.InlineCompletionParams
) -> list[types.InlineCompletionItem]:
    """Return the answer's items; none where the answer is null."""
    answer = await client.text_document_inline_completion_async(params)
    if answer is None:
        return []
    assert isinstance(answer, types.InlineCompletionList)
    return list(answer.items)


def log_of(client: LanguageClient) -> str:
    return "\n".join(message.message for message in client.log_messages)


@dataclass(slots=True)
class Page:
    """A document that is open in an editor, and what an editor does with it."""

    client: LanguageClient
    uri: str
    version: int = 1

    def change(self, text: str) -> None:
        self.version += 1
        change_document(self.client, self.uri, text, self.version)

    def insert(self, line: int, character: int, text: str) -> None:
        self.version += 1
        insert(self.client, self.uri, types.Position(line, character), text, self.version)

    def close(self) -> None:
        params = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri))
        self.client.text_document_did_close(params)

    async def items(
        self, line: int, character: int, **how: Any
    ) -> list[types.InlineCompletionItem]:
        """Return what is suggested at a place; ``how`` are arguments of ``ask_inline``."""
        return await inline_items(self.client, ask_inline(self.uri, line, character, **how))

    async def shown(self, line: int, character: int, **how: Any) -> list[str]:
        return [str(item.insert_text) for item in await self.items(line, character, **how)]

    def send(self, line: int, character: int, id: str) -> "asyncio.Future[Any]":
        """Send a request under this id and return the answer to come."""
        method, params = (
            types.TEXT_DOCUMENT_INLINE_COMPLETION,
            ask_inline(self.uri, line, character),
        )
        sent = self.client.protocol.send_request_async(method, params, msg_id=id)
        return asyncio.ensure_future(sent)

    async def menu(self, line: int, character: int) -> types.CompletionList:
        answer = await self.client.text_document_completion_async(
            types.CompletionParams(
                text_document=types.TextDocumentIdentifier(self.uri),
                position=types.Position(line, character),
                context=types.CompletionContext(types.CompletionTriggerKind.Invoked),
            )
        )
        assert isinstance(answer, types.CompletionList)
        return answer

    @property
    def log(self) -> str:
        return log_of(self.client)


@asynccontextmanager
async def page(
    address: Address,
    text: str,
    /,
    *,
    name: str = "a.py",
    language: str = "python",
    who: types.InitializeParams | None = None,
    server: Server | None = None,
    options: Mapping[str, Any] = EMPTY,
    **rules: Any,
) -> AsyncIterator[Page]:
    """Open a document in VS Code, or another editor, that waits for no pause between keys.

    ``rules`` are the arguments of ``rule_server``, where no server is given.
    """
    server = rule_server(**rules) if server is None else server
    options = {"debounceMs": 0, **options}
    async with editing(who or vscode(), address, server=server, options=options) as client:
        yield Page(client, open_document(client, name, text, language))
