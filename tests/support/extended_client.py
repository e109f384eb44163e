"""What a client asks for beyond LSP, and all that it is sent, as it came over the wire."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from editor_clients import EMPTY, Page, Server, connected, open_document, vscode
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server

from intarsia.engine.ipc.address import Address

Message = dict[str, Any]


def asking_for(
    who: types.InitializeParams,
    *,
    drafts: bool = False,
    status: bool = False,
    confidence: bool = False,
    next_edits: bool = False,
    members: bool = False,
) -> types.InitializeParams:
    asked = {"drafts": drafts, "status": status, "confidence": confidence, "members": members}
    if next_edits:
        asked["nextEdits"] = True
    who.capabilities.experimental = {"intarsia": asked}
    return who


def record(client: LanguageClient) -> list[Message]:
    """Return a list that grows with each message that the client gets, before it is read."""
    messages: list[Message] = []
    read = client.protocol.structure_message

    def structure_message(data: dict[str, Any]) -> Any:
        if "jsonrpc" in data:
            messages.append(dict(data))
        return read(data)

    client.protocol.structure_message = structure_message
    return messages


@asynccontextmanager
async def told_page(
    address: Address,
    text: str,
    /,
    *asked: str,
    server: Server | None = None,
    who: types.InitializeParams | None = None,
    options: Mapping[str, Any] = EMPTY,
    **rules: Any,
) -> AsyncIterator[tuple[Page, list[Message]]]:
    """Open a.py in a client that asked for this; yield what it is sent, too.

    ``rules`` are the arguments of ``rule_server``, where no server is given.
    """
    server = rule_server(**rules) if server is None else server
    who = who or vscode()
    if asked:
        who = asking_for(who, **dict.fromkeys(asked, True))
    who.initialization_options = {"debounceMs": 0, "deadlineMs": 60_000, **options}
    async with connected(address, server) as client:
        messages = record(client)
        await client.initialize_session(who)
        yield Page(client, open_document(client, "a.py", text)), messages
        await client.shutdown_session()


def notified(messages: list[Message], method: str) -> list[Any]:
    """Return the parameters of the notifications of this method, in order."""
    return [message["params"] for message in messages if message.get("method") == method]


def last_items(messages: list[Message]) -> Any:
    """Return the items of the last answer that had any, as they came over the wire."""
    results = (message.get("result") for message in reversed(messages))
    return next(result["items"] for result in results if result and "items" in result)
