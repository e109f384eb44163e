"""Inline completions and menu items end to end, the model apart: rules replace it."""

import pytest
from editor_clients import (
    ask_inline,
    change_document,
    connected,
    editing,
    initialize,
    inline_items,
    insert,
    log_of,
    neovim,
    open_document,
    vscode,
)
from engine_watch import engine_once
from lsprotocol import types
from rule_server import rule_server, rule_server_command

from intarsia.engine.ipc.address import Address

FAST = {"debounceMs": 0}


def at(line: int, character: int) -> types.Range:
    """Return the empty range at a place."""
    return types.Range(types.Position(line, character), types.Position(line, character))


@pytest.mark.parametrize("who", [vscode, neovim])
async def test_an_automatic_request_gets_one_item_at_the_cursor(
    runtime: Address, who: object
) -> None:
    server = rule_server_command(text="x + {alternative}")
    async with editing(who(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "def f(x):\n    return \n")
        (item,) = await inline_items(client, ask_inline(uri, 1, 11))
        assert (item.insert_text, item.range) == ("x + 0", at(1, 11))


async def test_an_invoked_request_gets_distinct_candidates_the_greedy_one_first(
    runtime: Address,
) -> None:
    server = rule_server(text="x + {alternative}")
    async with editing(vscode(), runtime, server=server) as client:
        uri = open_document(client, "a.py", "def f(x):\n    return \n")
        items = await inline_items(client, ask_inline(uri, 1, 11, is_invoked=True))
        assert [item.insert_text for item in items] == ["x + 0", "x + 1", "x + 2"]


async def test_candidates_that_read_the_same_are_one(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=rule_server(text="x")) as client:
        uri = open_document(client, "a.py", "y = ")
        items = await inline_items(client, ask_inline(uri, 0, 4, is_invoked=True))
        assert [item.insert_text for item in items] == ["x"]


async def test_where_the_greedy_fill_does_not_hold_the_next_likeliest_is_looked_at(
    runtime: Address,
) -> None:
    server = rule_server(text="b{alternative} = 1")
    async with editing(vscode(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "a = 1\n\nb0 = 1\nprint(b0)\n")
        (item,) = await inline_items(client, ask_inline(uri, 1, 0))
        assert item.insert_text == "b1 = 1"
        await engine_once(runtime, lambda status: status.num_fills == 2)


async def test_two_fills_that_do_not_hold_are_no_suggestion(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=rule_server(text="b = 1"), options=FAST) as client:
        uri = open_document(client, "a.py", "a = 1\n\nb = 1\nprint(b)\n")
        assert await inline_items(client, ask_inline(uri, 1, 0)) == []
        assert "no suggestion: nothing was left of the fill" in log_of(client)
        await engine_once(runtime, lambda status: status.num_fills == 2)


async def test_cycling_asks_the_engine_once_and_keeps_what_was_shown(runtime: Address) -> None:
    server = rule_server(text="x + {alternative}")
    async with editing(vscode(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "y = ")
        (shown,) = await inline_items(client, ask_inline(uri, 0, 4))
        cycled = await inline_items(client, ask_inline(uri, 0, 4, is_invoked=True))
        assert cycled[0] == shown
        assert await inline_items(client, ask_inline(uri, 0, 4, is_invoked=True)) == cycled
        await engine_once(runtime, lambda status: status.num_fills == 3)


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 14), ("utf-16", 11), ("utf-32", 10)])
async def test_astral_characters_left_of_the_cursor_are_counted_as_agreed(
    runtime: Address, encoding: str, character: int
) -> None:
    who = neovim()
    assert who.capabilities.general is not None
    who.capabilities.general.position_encodings = [encoding]
    line = "s = '😀é' + \n"
    async with editing(who, runtime, server=rule_server_command(text="t"), options=FAST) as client:
        uri = open_document(client, "a.py", line)
        (item,) = await inline_items(client, ask_inline(uri, 0, character))
        assert (item.insert_text, item.range) == ("t", at(0, character))


async def test_a_file_with_crlf_gets_crlf(runtime: Address) -> None:
    server = rule_server(text="    x = 1\n    return x\n")
    async with editing(vscode(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "def f():\r\n\r\n\r\nf()\r\n")
        (item,) = await inline_items(client, ask_inline(uri, 1, 0))
        assert item.insert_text == "    x = 1\r\n    return x"
        assert item.range == at(1, 0)


async def test_a_position_beyond_the_line_is_its_end(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=rule_server(text="1"), options=FAST) as client:
        uri = open_document(client, "a.py", "y = \nz = 2\n")
        (item,) = await inline_items(client, ask_inline(uri, 0, 999))
        assert item.range == at(0, 4)


async def test_the_item_extends_the_word_selected_in_the_menu(runtime: Address) -> None:
    server = rule_server(text=".join(a)")
    options = {"overMenu": True, **FAST}
    async with editing(vscode(), runtime, server=server, options=options) as client:
        uri = open_document(client, "a.py", "x = os.pa\n")
        word = types.Range(types.Position(0, 7), types.Position(0, 9))
        selected = types.SelectedCompletionInfo(range=word, text="path")
        items = await inline_items(client, ask_inline(uri, 0, 9, selected=selected))
        assert [(item.insert_text, item.range) for item in items] == [("path.join(a)", word)]


async def test_two_documents_are_kept_apart(runtime: Address) -> None:
    server = rule_server(rules=[("one =", "1"), ("two =", "2")])
    async with editing(vscode(), runtime, server=server, options=FAST) as client:
        one = open_document(client, "one.py", "one = ")
        two = open_document(client, "two.py", "two = ")
        for uri, text in ((one, "1"), (two, "2"), (one, "1")):
            (item,) = await inline_items(client, ask_inline(uri, 0, 6))
            assert item.insert_text == text


async def test_edits_reach_the_model_as_the_client_made_them(runtime: Address) -> None:
    server = rule_server(rules=[("# \u2028\nwanted =", "1")], text="wrong")
    async with editing(vscode(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "\x0c# \u2028\n")
        insert(client, uri, types.Position(1, 0), "wanted ", 2)
        insert(client, uri, types.Position(1, 7), "= ", 3)
        (item,) = await inline_items(client, ask_inline(uri, 1, 9))
        assert item.insert_text == "1"


async def test_a_new_file_that_is_not_saved_yet_gets_one(runtime: Address) -> None:
    server = rule_server(text="1")
    async with editing(vscode(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "untitled:Untitled-1", "y = ")
        (item,) = await inline_items(client, ask_inline(uri, 0, 4))
        assert item.insert_text == "1"


@pytest.mark.parametrize(
    ("place", "language", "reason"),
    [
        ("git:/old.py", "python", "not a file on disk"),
        ("file:///home/me/project/.env", "dotenv", "excluded by the pattern"),
        ("file:///home/me/a.sql", "sql", "excluded by the pattern '*.sql'"),
        ("file:///home/me/a.md", "markdown", "disabledLanguages"),
    ],
)
async def test_documents_that_get_none_say_why_in_the_log(
    runtime: Address, place: str, language: str, reason: str
) -> None:
    options = {"disabledLanguages": ["markdown"], "exclude": ["*.sql"], **FAST}
    server = rule_server(text="x")
    async with editing(vscode(), runtime, server=server, options=options) as client:
        uri = open_document(client, place, "y = ", language)
        assert await inline_items(client, ask_inline(uri, 0, 4)) == []
        assert reason in log_of(client)


@pytest.mark.parametrize("marker", ["```", "> ~~~"])
@pytest.mark.parametrize("name", ["python", "py", "{.python .numberLines}"])
async def test_code_in_a_fence_of_a_disabled_language_gets_none(
    runtime: Address, marker: str, name: str
) -> None:
    options = {"disabledLanguages": ["python"], **FAST}
    server = rule_server(text="1")
    async with editing(vscode(), runtime, server=server, options=options) as client:
        lead = marker.rstrip("`~")
        blocks = [f"{marker}{it}\n{lead}y = \n{marker}\n\n" for it in (name, "go")]
        text = "".join(blocks) + "It is \n"
        uri = open_document(client, "a.md", text, "markdown")
        assert await inline_items(client, ask_inline(uri, 1, len(lead) + 4)) == []
        assert "python is among disabledLanguages, also in Markdown" in log_of(client)
        for line, column in ((5, len(lead) + 4), (8, 6)):
            assert await inline_items(client, ask_inline(uri, line, column))


async def test_a_disabled_language_without_a_row_disables_no_plain_fence(runtime: Address) -> None:
    options = {"disabledLanguages": ["cobol"], **FAST}
    server = rule_server(text="1")
    async with editing(vscode(), runtime, server=server, options=options) as client:
        uri = open_document(client, "a.md", "```\ny = \n```\n", "markdown")
        assert await inline_items(client, ask_inline(uri, 1, 4))


async def test_a_line_of_a_megabyte_gets_a_reason(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=rule_server(text="1"), options=FAST) as client:
        uri = open_document(client, "a.js", "x" * 1_000_000, "javascript")
        assert await inline_items(client, ask_inline(uri, 0, 1_000_000)) == []
        assert "line" in log_of(client)


async def test_a_file_of_five_megabytes_is_answered(runtime: Address) -> None:
    async with editing(
        vscode(), runtime, server=rule_server_command(text="1"), options=FAST
    ) as client:
        text = "value = 'ß'\n" * 400_000
        uri = open_document(client, "a.py", text + "y = ")
        (item,) = await inline_items(client, ask_inline(uri, 400_000, 4))
        assert item.insert_text == "1"


async def test_a_binary_text_gets_a_reason(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=rule_server(text="1"), options=FAST) as client:
        uri = open_document(client, "a.bin", "\0\1\2", "plaintext")
        assert await inline_items(client, ask_inline(uri, 0, 0)) == []
        assert "binary" in log_of(client)


async def test_what_the_filters_drop_is_no_suggestion(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=rule_server(text="   "), options=FAST) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await client.text_document_inline_completion_async(ask_inline(uri, 0, 4)) is None
        assert "no suggestion: the model wrote nothing" in log_of(client)


async def test_text_right_of_the_cursor_is_never_deleted(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=rule_server(text="a, b)"), options=FAST) as client:
        uri = open_document(client, "a.py", "print()\n")
        (item,) = await inline_items(client, ask_inline(uri, 0, 6))
        assert (item.insert_text, item.range) == ("a, b", at(0, 6))


async def test_typing_along_is_answered_without_the_engine(runtime: Address) -> None:
    server = rule_server(rules=[("y =", "value + 1")], text="something else")
    async with editing(vscode(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "y = ")
        await inline_items(client, ask_inline(uri, 0, 4))
        for version, typed in enumerate(("v", "val", "value +"), start=2):
            change_document(client, uri, f"y = {typed}", version)
            (item,) = await inline_items(client, ask_inline(uri, 0, 4 + len(typed)))
            assert item.insert_text == "value + 1"[len(typed) :]
        await engine_once(runtime, lambda status: status.num_fills == 1)


async def test_typing_something_else_asks_the_engine_again(runtime: Address) -> None:
    server = rule_server(text="orld")
    async with editing(vscode(), runtime, server=server, options=FAST) as client:
        uri = open_document(client, "a.py", "y = ")
        await inline_items(client, ask_inline(uri, 0, 4))
        change_document(client, uri, "y = w", 2)
        (item,) = await inline_items(client, ask_inline(uri, 0, 5))
        assert item.insert_text == "orld"


async def test_an_edit_elsewhere_asks_the_engine_again(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=rule_server(text="1"), options=FAST) as client:
        uri = open_document(client, "a.py", "y = \n")
        await inline_items(client, ask_inline(uri, 0, 4))
        change_document(client, uri, "y = \nz = 2\n", 2)
        await inline_items(client, ask_inline(uri, 0, 4))
        await engine_once(runtime, lambda status: status.num_fills == 2)


async def test_a_notebook_cell_is_filled_from_the_cells_around_it(runtime: Address) -> None:
    first, second, third = (f"vscode-notebook-cell:/work/a.ipynb#{n}" for n in range(3))
    texts = {first: "import math", second: "area = math.", third: "print(area)"}
    server = rule_server(rules=[("import math\n\narea = math", "pi * r ** 2")])
    async with editing(vscode(), runtime, server=server, options=FAST) as client:
        code = types.NotebookCellKind.Code
        client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(
                    "file:///work/a.ipynb",
                    "jupyter-notebook",
                    1,
                    [types.NotebookCell(code, uri) for uri in texts],
                ),
                [types.TextDocumentItem(uri, "python", 1, text) for uri, text in texts.items()],
            )
        )
        items = await inline_items(client, ask_inline(second, 0, 12))
        assert items, log_of(client)
        (item,) = items
        assert (item.insert_text, item.range) == ("pi * r ** 2", at(0, 12))


async def test_the_server_asks_for_every_notebook(runtime: Address) -> None:
    async with connected(runtime, rule_server()) as client:
        result = await initialize(client, vscode())
        sync = result.capabilities.notebook_document_sync
        assert isinstance(sync, types.NotebookDocumentSyncOptions)
        assert [selector.notebook for selector in sync.notebook_selector] == ["*"]


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
