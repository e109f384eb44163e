"""Next edits, from an edit to an offer, for our own clients, any client and Copilot's clients."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from client_edits import Applied, apply_edits, code_actions, cursor, text_edits
from editor_clients import log_of, neovim, open_document, replace, vscode
from engine_watch import until
from extended_client import Message, notified, told_page
from lsprotocol import types
from pytest_lsp import LanguageClient
from scripted_next_edits import BALANCED, BOLD, SURE, rule
from short_pauses import PAUSE_S

from intarsia.engine.ipc.address import Address

pytestmark = pytest.mark.usefixtures("short_pauses")

EDITS = "intarsia/nextEdits"
BEFORE = """\
a = area(a, b)  # a use: what a renamed declaration has left is known without the engine
print(a)


print(area(1, 2))
print(area(3, 4))
print(area(5, 6))
"""
AT = types.Range(types.Position(0, 4), types.Position(0, 8))
AFTER = BEFORE.replace("a = area", "a = size")
RULES = [rule("(area(1", "(size(1", SURE), rule("(area(3", "(size(3", {**SURE, "gain": 9.0})]
BOTH = ("print(size(1, 2))\n", "print(size(3, 4))\n")
LAST = rule("(area(5", "(size(5", SURE)


class Editor:
    """A document in a client: types into it, and knows its text and version."""

    def __init__(self, client: LanguageClient, messages: list[Message], place: str) -> None:
        self.client = client
        self.messages = messages
        self.text = BEFORE
        self.version = 1
        self.uri = open_document(client, place, BEFORE)

    def replace(self, where: types.Range, new: str) -> None:
        self.text = apply_edits(self.text, [types.TextEdit(where, new)])
        self.version += 1
        replace(self.client, self.uri, where, new, self.version)

    def accept(self, edit: Mapping[str, Any]) -> None:
        start, end = edit["range"]["start"], edit["range"]["end"]
        where = types.Range(types.Position(**start), types.Position(**end))
        self.replace(where, edit["newText"])

    @property
    def offers(self) -> Sequence[Mapping[str, Any]]:
        sent = notified(self.messages, EDITS)
        return sent[-1]["edits"] if sent else []

    async def offered(self, *texts: str) -> Sequence[Mapping[str, Any]]:
        """Wait until exactly these texts are offered for the newest version; return the offers."""

        async def is_so() -> bool:
            sent = notified(self.messages, EDITS)
            return (
                bool(sent)
                and sent[-1]["version"] == self.version
                and tuple(edit["newText"] for edit in sent[-1]["edits"]) == texts
            )

        await until(is_so)
        return self.offers

    async def edited(self) -> Sequence[Mapping[str, Any]]:
        """Rename the function; return the two offers that follow."""
        self.replace(AT, "size")
        return await self.offered(*BOTH)

    async def command(self, arguments: Sequence[object]) -> Mapping[str, Any]:
        params = types.ExecuteCommandParams("intarsia.nextEdit", list(arguments))
        return dict(await self.client.workspace_execute_command_async(params))

    async def counted(self, **counts: int) -> None:
        def is_so() -> bool:
            sent = notified(self.messages, "intarsia/status")
            return bool(sent) and sent[-1]["nextEdits"].items() >= counts.items()

        await until(is_so)


@asynccontextmanager
async def editing(runtime, *, rules=RULES, who=None, place="edited.py", **options):
    """Open a document in a client that draws next edits, beside an engine that has answered."""
    asked = () if who else ("next_edits", "status")
    how = {"who": who, "options": {"fillAhead": "off", **options}}
    engine = {"rules": [["other =", "1"]], "text": "", "next_edits": rules}
    async with told_page(runtime, "other = ", *asked, **how, **engine) as (first, messages):
        await first.shown(0, 8)  # an engine runs from here on
        yield Editor(first.client, messages, place)


async def test_an_edit_brings_offers_for_its_version(runtime: Address) -> None:
    async with editing(runtime) as editor:
        first, second = await editor.edited()
        assert first == {
            "id": first["id"],
            "range": {"start": {"line": 4, "character": 0}, "end": {"line": 5, "character": 0}},
            "newText": "print(size(1, 2))\n",
            "level": "sure",
            "change": {"range": _range(4, 6, 10), "newText": "size"},
            "difference": {
                "removed": [_range(4, 6, 10)],
                "added": [{"position": {"line": 4, "character": 10}, "text": "size"}],
                "block": [],
            },
        }
        assert first["id"] != second["id"]
        assert notified(editor.messages, EDITS)[-1]["uri"] == editor.uri
        await editor.counted(settled=1, offered=2)


@pytest.mark.parametrize(
    ("level", "numbers", "offered"), [("balanced", BALANCED, [4, 5]), ("balanced", BOLD, [4])]
)
async def test_the_setting_says_how_sure_an_offer_is(runtime, level, numbers, offered):
    rules = [rule("(area(1", "(size(1", SURE), rule("(area(3", "(size(3", numbers)]
    async with editing(runtime, rules=rules, nextEdit=level) as editor:
        editor.replace(AT, "size")
        await editor.counted(offered=len(offered))
        assert [edit["range"]["start"]["line"] for edit in editor.offers] == offered


async def test_an_edit_that_is_a_rename_is_offered_as_one(runtime: Address) -> None:
    async with editing(runtime, rules=[*RULES, rule("(area(5", "(sizes(5", SURE)]) as editor:
        editor.replace(AT, "größe")
        await editor.counted(offered=2)
        assert "rename" not in notified(editor.messages, EDITS)[-1]  # the offers do not agree
        editor.replace(types.Range(types.Position(0, 4), types.Position(0, 9)), "size")
        first, _ = await editor.offered(*BOTH)
        assert notified(editor.messages, EDITS)[-1]["rename"] == {
            "oldName": "area",
            "newName": "size",
            "ranges": [_range(0, 4, 8)],
            "position": {"line": 0, "character": 4},
        }
        editor.accept(first)
        await editor.offered("print(sizes(5, 6))\n", "print(size(3, 4))\n")
        sent = notified(editor.messages, EDITS)[-1]
        assert sent["rename"]["ranges"] == [_range(0, 4, 8), _range(4, 6, 10)]


def _range(line: int, start: int, end: int) -> Mapping[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


async def test_code_that_does_not_parse_waits_until_its_line_is_left(runtime: Address) -> None:
    async with editing(runtime) as editor:
        editor.replace(types.Range(types.Position(0, 4), types.Position(0, 9)), "size((")
        await code_actions(editor.client, editor.uri, cursor(0, 8), is_automatic=True)
        await asyncio.sleep(6 * PAUSE_S)
        assert editor.offers == []
        await code_actions(editor.client, editor.uri, cursor(6, 0), is_automatic=True)
        await editor.offered(*BOTH)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"nextEdit": "off"}, "edited.py"),
        ({"enabled": False}, "edited.py"),
        ({"disabledLanguages": ["python"]}, "edited.py"),
        ({}, ".env"),
    ],
)
async def test_a_document_that_gets_none_is_not_looked_at(runtime, options, place):
    async with editing(runtime, place=place, **options) as editor:
        editor.replace(AT, "size")
        await asyncio.sleep(6 * PAUSE_S)
        assert notified(editor.messages, EDITS) == []
        assert await code_actions(editor.client, editor.uri, cursor(4, 0), only=["quickfix"]) == []


async def test_switching_off_takes_the_offers_away(runtime: Address) -> None:
    async with editing(runtime) as editor:
        await editor.edited()
        editor.client.set_configuration({"nextEdit": "off"}, section="intarsia")
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams(settings=None)
        )
        await editor.offered()


async def test_a_model_that_cannot_is_told_in_the_log_alone(runtime: Address) -> None:
    async with editing(runtime, rules=None) as editor:
        editor.replace(AT, "size")
        reason = "no next edit: this model cannot find next edits"
        await until(lambda: reason in log_of(editor.client))
        assert notified(editor.messages, EDITS) == []


async def test_a_client_that_did_not_ask_gets_code_actions(runtime: Address) -> None:
    async with editing(runtime, who=vscode()) as editor:
        editor.replace(AT, "size")
        action = await _next_edit_action(editor, cursor(4, 3))
        assert action.kind == "quickfix.intarsia.nextEdit" and action.is_preferred
        assert action.title == "Next edit: print(size(1, 2)) (intarsia)"
        assert action.edit is not None and action.edit.document_changes is not None
        (change,) = action.edit.document_changes
        assert isinstance(change, types.TextDocumentEdit) and change.text_document.version == 2
        result = apply_edits(editor.text, text_edits(action.edit))
        assert result == AFTER.replace("(area(1", "(size(1")
        assert (await editor.client.code_action_resolve_async(action)).edit == action.edit
        assert notified(editor.messages, EDITS) == []


async def _next_edit_action(editor: Editor, where: types.Range) -> types.CodeAction:
    found: list[types.CodeAction] = []

    async def is_there() -> bool:
        actions = await code_actions(editor.client, editor.uri, where, is_automatic=True)
        found.extend(it for it in actions or () if isinstance(it, types.CodeAction))
        return bool(found)

    await until(is_there)
    return found[0]


async def test_the_way_to_the_best_offer_is_shown_where_the_user_asks(runtime: Address) -> None:
    async with editing(runtime) as editor:
        await editor.edited()
        where = cursor(1, 0)
        assert not await code_actions(editor.client, editor.uri, where, is_automatic=True)
        (action,) = await code_actions(editor.client, editor.uri, where, only=["quickfix"])
        assert action.title == "Go to next edit (intarsia)"
        applied = Applied(editor.client)
        answer = await editor.command([{"textDocument": {"uri": editor.uri}}])
        assert answer == {"applied": True, "reason": None}
        (params,) = applied.params
        assert apply_edits(editor.text, text_edits(params.edit)) == AFTER.replace(
            "(area(1", "(size(1"
        )
        assert [
            it.selection.start.line for it in editor.client.shown_documents if it.selection
        ] == [4]


async def test_the_command_says_why_it_did_nothing(runtime: Address) -> None:
    async with editing(runtime) as editor:
        answer = await editor.command([{"textDocument": {"uri": editor.uri}}])
        assert answer == {"applied": False, "reason": "there is no next edit now"}
        with pytest.raises(Exception, match="expected one argument"):
            await editor.command([])


async def inline_edits(editor: Editor, version: int | None = None) -> list[Any]:
    params = {
        "textDocument": {"uri": editor.uri, "version": version or editor.version},
        "position": {"line": 0, "character": 8},
        "context": {"triggerKind": 2},
    }
    answer = await editor.client.protocol.send_request_async(
        "textDocument/copilotInlineEdit", params
    )
    assert answer is not None
    sent = next(
        it["result"] for it in reversed(editor.messages) if "edits" in (it.get("result") or ())
    )
    return list(sent["edits"])


async def test_copilots_clients_get_the_best_offer_once_it_is_found(runtime: Address) -> None:
    async with editing(runtime, who=neovim()) as editor:
        assert await inline_edits(editor) == []
        editor.replace(AT, "size")
        editor.client.protocol.notify(
            "textDocument/didFocus", {"textDocument": {"uri": editor.uri}}
        )
        (edit,) = await inline_edits(editor)  # asked before the text is at rest
        assert edit == {
            "text": "print(size(1, 2))\n",
            "range": {"start": {"line": 4, "character": 0}, "end": {"line": 5, "character": 0}},
            "textDocument": {"uri": editor.uri, "version": 2},
        }
        assert await inline_edits(editor, version=1) == []
