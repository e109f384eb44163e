"""Messages of an editor that are late, twice, or for nothing: no edit is lost or misplaced."""

import asyncio

from editor_clients import ask_inline
from faults.editor import BY_DIGEST, Editor, editor_on
from faults.fault_server import fault_server_command
from faults.ground import Ground
from lsprotocol import types

SERVER = fault_server_command(rules=[BY_DIGEST], text="42")


def send_change(editor: Editor, text: str, version: int) -> None:
    """Send an insertion at the start of the document with this version."""
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(uri=editor.uri, version=version),
            [types.TextDocumentContentChangePartial(start, text)],
        )
    )


async def test_a_document_is_asked_about_after_it_was_closed(ground: Ground) -> None:
    async with editor_on(ground, SERVER) as editor:
        identifier = types.TextDocumentIdentifier(editor.uri)
        for _ in range(2):
            editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
        send_change(editor, "x", 9)
        assert await editor.ask() is None
        await editor.told("not open")
        editor.open("again = 1")
        assert await editor.is_in_step()


async def test_two_requests_have_one_id(ground: Ground) -> None:
    """Both are answered: an editor that waits for one is not left waiting."""
    async with editor_on(ground, SERVER) as editor:
        editor.write("x = ")
        end = editor.end()
        params = ask_inline(editor.uri, end.line, end.character)
        method = types.TEXT_DOCUMENT_INLINE_COMPLETION
        send = editor.client.protocol.send_request_async
        first = asyncio.ensure_future(send(method, params, msg_id="same"))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(send(method, params, msg_id="same"))
        await asyncio.wait([first, second], return_when=asyncio.FIRST_COMPLETED)
        first.cancel()
        second.cancel()
        assert await editor.is_in_step()
