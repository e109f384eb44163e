"""Inline completions and menu items end to end, the model apart: rules replace it."""

import asyncio

import pytest
from editor_clients import Page, neovim, page
from engine_watch import engine_once
from lsprotocol import types
from rule_server import rule_server_command

from intarsia.engine.ipc.address import Address

CANDIDATES = "x + {alternative}"
BLOCK = "    x = 1\n    return x\n"


def at(line: int, character: int) -> types.Range:
    return types.Range(types.Position(line, character), types.Position(line, character))


async def num_fills(runtime: Address, wanted: int) -> None:
    await engine_once(runtime, lambda status: status.num_fills == wanted)


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 14), ("utf-16", 11), ("utf-32", 10)])
async def test_astral_characters_left_of_the_cursor_are_counted_as_agreed(
    runtime, encoding, character
):
    who = neovim()
    who.capabilities.general.position_encodings = [encoding]
    server = rule_server_command(text="t")
    async with page(runtime, "s = '😀é' + \n", who=who, server=server) as user:
        (item,) = await user.items(0, character)
        assert (item.insert_text, item.range) == ("t", at(0, character))


@pytest.mark.parametrize(
    ("text", "place", "written", "shown", "where"),
    [
        (
            "def f():\r\n\r\n\r\nf()\r\n",
            (1, 0),
            BLOCK,
            BLOCK.rstrip().replace("\n", "\r\n"),
            (1, 0),
        ),
        ("y = \nz = 2\n", (0, 999), "1", "1", (0, 4)),  # beyond the line
        ("print()\n", (0, 6), "a, b)", "a, b", (0, 6)),  # what is right of it is never deleted
    ],
)
async def test_an_item_fits_its_line(runtime, text, place, written, shown, where):
    async with page(runtime, text, text=written) as user:
        (item,) = await user.items(*place)
        assert (item.insert_text, item.range) == (shown, at(*where))


@pytest.mark.parametrize(
    ("written", "shown"), [(CANDIDATES, ["x + 0", "x + 1", "x + 2"]), ("x", ["x"])]
)
async def test_an_invoked_request_gets_distinct_candidates_the_greedy_one_first(
    runtime, written, shown
):
    async with page(runtime, "y = ", text=written) as user:
        assert await user.shown(0, 4, is_invoked=True) == shown


@pytest.mark.parametrize(("written", "shown"), [("b{alternative} = 1", ["b1 = 1"]), ("b0 = 1", [])])
async def test_where_the_greedy_fill_does_not_hold_the_next_likeliest_is_looked_at(
    runtime, written, shown
):
    async with page(runtime, "a = 1\n\nb0 = 1\nprint(b0)\n", text=written) as user:
        assert await user.shown(1, 0) == shown
        assert bool(shown) != ("no suggestion: the text would repeat" in user.log)
        await num_fills(runtime, 2)


@pytest.mark.parametrize(
    ("text", "asked"), [("y = \0", 0), ("y = " + "1, " * 20_000, 0), ("y = ", 2)]
)
async def test_what_will_be_nothing_waits_for_no_pause_in_typing(runtime, text, asked):
    options = {"debounceMs": 10_000, "fillAhead": "off"}
    async with page(runtime, text, text="", options=options) as user:
        for _ in range(3):
            assert await asyncio.wait_for(user.shown(0, 4), 5) == []
        await num_fills(runtime, asked)


async def test_cycling_asks_the_engine_once_and_keeps_what_was_shown(runtime: Address) -> None:
    async with page(runtime, "y = ", text=CANDIDATES) as user:
        (shown,) = await user.items(0, 4)
        cycled = await user.items(0, 4, is_invoked=True)
        assert cycled[0] == shown
        assert await user.items(0, 4, is_invoked=True) == cycled
        await num_fills(runtime, 3)


async def test_the_item_extends_the_word_selected_in_the_menu(runtime: Address) -> None:
    word = types.Range(types.Position(0, 7), types.Position(0, 9))
    selected = types.SelectedCompletionInfo(range=word, text="path")
    async with page(runtime, "x = os.pa\n", text=".join(a)") as user:
        (item,) = await user.items(0, 9, selected=selected)
        assert (item.insert_text, item.range) == ("path.join(a)", word)


async def test_the_word_selected_in_the_menu_is_not_lengthened(runtime: Address) -> None:
    word = types.Range(types.Position(0, 7), types.Position(0, 9))
    selected = types.SelectedCompletionInfo(range=word, text="path")
    async with page(runtime, "x = os.pa\n", text="thlib(a)") as user:
        assert await user.shown(0, 9, selected=selected) == []
        assert await user.shown(0, 9) == ["thlib(a)"]


async def test_edits_reach_the_model_as_the_client_made_them(runtime: Address) -> None:
    rules = {"rules": [("# \u2028\nwanted =", "1")], "text": "wrong"}
    async with page(runtime, "\x0c# \u2028\n", **rules) as user:
        user.insert(1, 0, "wanted ")
        user.insert(1, 7, "= ")
        assert await user.shown(1, 9) == ["1"]


async def test_code_in_a_fence_of_a_disabled_language_gets_none(runtime: Address) -> None:
    text = "> ```py\n> y = \n> ```\n\n```go\ny = \n```\n\nIt is \n"
    markdown = {"name": "a.md", "language": "markdown"}
    options = {"disabledLanguages": ["python"]}
    async with page(runtime, text, text="1", options=options, **markdown) as user:
        assert await user.shown(1, 6) == []
        assert "python is in disabledLanguages, also in markdown" in user.log
        for place in ((5, 4), (8, 6)):
            assert await user.shown(*place)


async def test_a_file_of_five_megabytes_is_answered(runtime: Address) -> None:
    text = "value = 'ß'\n" * 400_000
    async with page(runtime, text + "y = ", server=rule_server_command(text="1")) as user:
        assert await user.shown(400_000, 4) == ["1"]


async def test_a_notebook_cell_is_filled_from_the_cells_around_it(runtime: Address) -> None:
    uris = [f"vscode-notebook-cell:/work/a.ipynb#{number}" for number in range(3)]
    texts = dict(zip(uris, ("import math", "area = math.", "print(area)"), strict=True))
    cells = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in texts]
    notebook = types.NotebookDocument("file:///work/a.ipynb", "jupyter-notebook", 1, cells)
    items = [types.TextDocumentItem(uri, "python", 1, text) for uri, text in texts.items()]
    async with page(runtime, "", rules=[("import math\n\narea = math", "pi * r ** 2")]) as user:
        user.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))
        (item,) = await Page(user.client, uris[1]).items(0, 12)
        assert (item.insert_text, item.range) == ("pi * r ** 2", at(0, 12))


KINDS = types.CompletionItemKind


@pytest.mark.parametrize(
    ("written", "kind"), [("ue", KINDS.Variable), ("ue(x)", KINDS.Function), ("ue + 1", KINDS.Text)]
)
async def test_the_menu_gets_one_preselected_item_and_is_asked_again(runtime, written, kind):
    server = rule_server_command(text=written)
    async with page(runtime, "y = val\n", who=neovim(), server=server) as user:
        answer = await user.menu(0, 7)
        assert answer.is_incomplete
        (item,) = answer.items
        text = f"val{written}"
        assert (item.label, item.filter_text, item.detail) == (text, text, "intarsia")
        assert (item.preselect, item.kind) == (True, kind)
        word = types.Range(types.Position(0, 4), types.Position(0, 7))
        assert item.text_edit == types.TextEdit(range=word, new_text=text)


async def test_several_lines_are_shown_as_their_first(runtime: Address) -> None:
    async with page(runtime, "def f():\n\n", who=neovim(), text=BLOCK) as user:
        (item,) = (await user.menu(1, 0)).items
        assert item.label == "x = 1…"
        assert isinstance(item.text_edit, types.TextEdit)
        assert item.text_edit.new_text == BLOCK.rstrip()


async def test_no_suggestion_is_an_empty_list_that_is_asked_for_again(runtime: Address) -> None:
    async with page(runtime, "y = ", who=neovim(), text="") as user:
        answer = await user.menu(0, 4)
        assert (answer.is_incomplete, list(answer.items)) == (True, [])
        assert "no suggestion: the model wrote nothing" in user.log
