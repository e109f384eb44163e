"""A long text is parsed and searched in a thread, a short one at once."""

import threading

import pytest
from lsprotocol import types

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.parse import parse
from intarsia.lsp.documents import long_texts
from intarsia.lsp.documents.long_texts import MAX_CHARS_ON_LOOP, parse_if_long, read_text
from intarsia.lsp.requests.code_action import code_action
from intarsia.lsp.server import IntarsiaServer

URI = "file:///a.py"
PYTHON = language_for_id("python")
SHORT = "def f(): ...\n"
LONG = SHORT * (MAX_CHARS_ON_LOOP // len(SHORT) + 1)


@pytest.mark.parametrize(("text", "is_in_thread"), [(SHORT, False), (LONG, True)])
async def test_only_a_long_text_takes_a_thread(text: str, is_in_thread: bool) -> None:
    worked_in = await read_text(text, threading.current_thread)
    assert (worked_in is not threading.main_thread()) == is_in_thread


async def test_planning_finds_a_long_text_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    await parse_if_long(LONG, 5, PYTHON)

    def parse_again(*_: object) -> None:
        raise AssertionError("it is parsed already")

    monkeypatch.setattr("intarsia.infill.syntax.parse.parse_bounded", parse_again)
    assert parse(LONG, PYTHON) is not None


async def test_the_loop_answers_while_a_long_text_is_searched_for_holes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = IntarsiaServer()
    monkeypatch.setattr(type(server), "client_capabilities", types.ClientCapabilities())
    server.session.documents.open(types.TextDocumentItem(URI, "python", 1, LONG))
    threads: list[threading.Thread] = []

    async def in_thread(work, *arguments):  # type: ignore[no-untyped-def]
        result = await to_thread(lambda: (threading.current_thread(), work(*arguments)))
        threads.append(result[0])
        return result[1]

    to_thread = long_texts.asyncio.to_thread
    monkeypatch.setattr(long_texts.asyncio, "to_thread", in_thread)
    actions = await code_action(server, selected_lines(0, 3))
    assert [it.title for it in actions or ()][-1] == "Fill all 3 holes in the selection (intarsia)"
    assert threads and threading.main_thread() not in threads


def selected_lines(first: int, last: int) -> types.CodeActionParams:
    return types.CodeActionParams(
        text_document=types.TextDocumentIdentifier(URI),
        range=types.Range(types.Position(first, 0), types.Position(last, 0)),
        context=types.CodeActionContext(diagnostics=[]),
    )
