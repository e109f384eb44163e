"""The menu item for clients without ghost text."""

import pytest
from editor_clients import ask_inline, editing, inline_items, log_of, neovim, open_document
from lsprotocol import types
from rule_server import rule_server, rule_server_command

from intarsia.engine.ipc.address import Address

FAST = {"debounceMs": 0}


def ask(uri: str, line: int, character: int) -> types.CompletionParams:
    return types.CompletionParams(
        text_document=types.TextDocumentIdentifier(uri),
        position=types.Position(line, character),
        context=types.CompletionContext(types.CompletionTriggerKind.Invoked),
    )


async def test_the_menu_gets_one_preselected_item_and_is_asked_again(runtime: Address) -> None:
    server = rule_server_command(text="ue + 1")
    async with editing(neovim(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "y = val\n")
        answer = await client.text_document_completion_async(ask(uri, 0, 7))
        assert isinstance(answer, types.CompletionList)
        assert answer.is_incomplete
        (item,) = answer.items
        assert (item.label, item.filter_text, item.detail) == (
            "value + 1",
            "value + 1",
            "intarsia",
        )
        assert item.preselect
        word = types.Range(types.Position(0, 4), types.Position(0, 7))
        assert item.text_edit == types.TextEdit(range=word, new_text="value + 1")


async def test_several_lines_are_shown_as_their_first(runtime: Address) -> None:
    server = rule_server(text="    x = 1\n    return x\n")
    async with editing(neovim(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "def f():\n\n")
        answer = await client.text_document_completion_async(ask(uri, 1, 0))
        assert isinstance(answer, types.CompletionList)
        (item,) = answer.items
        assert item.label == "x = 1…"
        assert isinstance(item.text_edit, types.TextEdit)
        assert item.text_edit.new_text == "    x = 1\n    return x"


@pytest.mark.parametrize(
    ("fill", "kind"),
    [
        ("ue", types.CompletionItemKind.Variable),
        ("ue(x)", types.CompletionItemKind.Function),
        ("ue + 1", types.CompletionItemKind.Text),
    ],
)
async def test_the_menu_is_told_what_kind_of_thing_it_is(
    runtime: Address, fill: str, kind: types.CompletionItemKind
) -> None:
    server = rule_server(text=fill)
    async with editing(neovim(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "y = val\n")
        answer = await client.text_document_completion_async(ask(uri, 0, 7))
        assert isinstance(answer, types.CompletionList)
        assert answer.items[0].kind == kind


async def test_no_suggestion_is_an_empty_list_that_is_asked_for_again(runtime: Address) -> None:
    server = rule_server(text="")
    async with editing(neovim(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "y = ")
        answer = await client.text_document_completion_async(ask(uri, 0, 4))
        assert isinstance(answer, types.CompletionList)
        assert (answer.is_incomplete, list(answer.items)) == (True, [])
        assert "no suggestion: the model wrote nothing" in log_of(client)


async def test_menu_and_ghost_text_show_the_same(runtime: Address) -> None:
    server = rule_server(text="{alternative} + 1")
    async with editing(neovim(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "y = ")
        (ghost,) = await inline_items(client, ask_inline(uri, 0, 4))
        answer = await client.text_document_completion_async(ask(uri, 0, 4))
        assert isinstance(answer, types.CompletionList)
        assert answer.items[0].label == ghost.insert_text
