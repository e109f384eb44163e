"""Manners over LSP alone: which automatic requests get nothing, and that invoked ones always do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from editor_clients import (
    ask_inline,
    editing,
    inline_items,
    log_of,
    neovim,
    open_document,
    vscode,
)
from engine_watch import engine_once
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server

from intarsia.engine.ipc.address import Address

FAST = {"debounceMs": 0, "fillAhead": "off", "nextEdit": "off"}


@dataclass(slots=True)
class Typist:
    """A user in one document, who makes changes and gets automatic suggestions."""

    client: LanguageClient
    uri: str
    text: str
    version: int = 1

    def change(self, *edits: tuple[str, str]) -> None:
        """Replace the first occurrence of each text by another; all of them in one message."""
        changes = []
        for old, new in edits:
            start = self.text.index(old)
            place = types.Range(self._position(start), self._position(start + len(old)))
            changes.append(types.TextDocumentContentChangePartial(place, new))
            self.text = self.text[:start] + new + self.text[start + len(old) :]
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    async def shown(self, after: str, *, is_invoked: bool = False) -> str | None:
        """Return what is suggested after the first occurrence of a text, None if nothing is."""
        place = self._position(self.text.index(after) + len(after))
        asked = ask_inline(self.uri, place.line, place.character, is_invoked=is_invoked)
        items = await inline_items(self.client, asked)
        return str(items[0].insert_text) if items else None

    def dismiss(self, after: str) -> None:
        """Dismiss the suggestion after a text."""
        place = self._position(self.text.index(after) + len(after))
        params = {
            "textDocument": {"uri": self.uri},
            "position": {"line": place.line, "character": place.character},
        }
        self.client.protocol.notify("intarsia/dismissed", params)

    def _position(self, offset: int) -> types.Position:
        before = self.text[:offset]
        return types.Position(before.count("\n"), len(before.rpartition("\n")[2]))


@asynccontextmanager
async def typing(
    runtime: Address, text: str, *, written: str = "value", name: str = "a.py", **options: object
) -> AsyncIterator[Typist]:
    server = rule_server(text=written)
    async with editing(vscode(), runtime, server=server, options={**FAST, **options}) as client:
        language = {"py": "python", "js": "javascript"}[name.rpartition(".")[2]]
        yield Typist(client, open_document(client, name, text, language), text)


async def test_nothing_after_a_deletion_until_a_character_is_typed(runtime: Address) -> None:
    async with typing(runtime, "x = ab\n") as user:
        user.change(("ab", "a"))
        assert await user.shown("x = a") is None
        assert "text was just deleted here" in log_of(user.client)
        assert await user.shown("x = a", is_invoked=True) is not None
        user.change(("x = a", "x = a + "))
        assert await user.shown("x = a + ") == "value"


async def test_an_indentation_that_is_taken_back_is_no_deletion(runtime: Address) -> None:
    async with typing(runtime, "if a:\n    b = 1\n") as user:
        user.change(("b = 1\n", "b = 1\n    \n"))
        user.change(("b = 1\n    \n", "b = 1\n\n"))
        assert await user.shown("b = 1\n") == "value"


async def test_nothing_after_undo_and_redo(runtime: Address) -> None:
    async with typing(runtime, "x = 1\n") as user:
        user.change(("x = 1", "x = 1 + total"))
        user.change(("x = 1 + total", "x = 1"))
        assert await user.shown("x = 1") is None
        user.change(("x = 1", "x = 1 + total"))
        assert await user.shown("total") is None
        assert log_of(user.client).count("undone or redone") == 2


async def test_nothing_after_a_paste_but_after_an_accepted_suggestion(runtime: Address) -> None:
    body = "for item in items:\n    print(item)\n    count(item)"
    async with typing(runtime, "def f(items):\n    \n", written=body) as user:
        accepted = await user.shown("    ")
        assert accepted is not None and "\n" in accepted
        user.change(("    \n", f"    {accepted}\n"))
        await user.shown(accepted)
        assert "pasted" not in log_of(user.client)
        user.change((accepted, accepted + "\n    for item in items:\n        print(item)"))
        assert await user.shown("items:\n        print(item)") is None
        assert "text was just pasted here" in log_of(user.client)


async def test_nothing_after_a_formatter_or_replace_all(runtime: Address) -> None:
    async with typing(runtime, "a=1\nb=2\nc=a\n") as user:
        user.change(("a=1", "a = 10"), ("b=2", "b = 20"), ("c=a", "c = a"))
        assert await user.shown("c = a") is None
        assert "as a formatter does" in log_of(user.client)
        user.change(("c = a", "c = a + "))
        assert await user.shown("c = a + ") == "value"


async def test_a_change_elsewhere_does_not_silence_this_line(runtime: Address) -> None:
    async with typing(runtime, "first = 12\n\nx = \n") as user:
        user.change(("first = 12", "first = 1"))
        assert await user.shown("x = ") == "value"


async def test_a_suggestion_that_is_typed_along_stays_though_a_letter_is_taken_back(
    runtime: Address,
) -> None:
    async with typing(runtime, "x = \n") as user:
        assert await user.shown("x = ") == "value"
        user.change(("x = ", "x = va"))
        assert await user.shown("x = va") == "lue"
        user.change(("x = va", "x = v"))
        assert await user.shown("x = v") == "alue"


@pytest.mark.parametrize(
    ("text", "after", "options", "reason"),
    [
        ("x = 1  # the total \n", "total ", {}, "in a comment"),
        ("x = 1  # the total \n", "total ", {"inComments": "always"}, None),
        ('def f():\n    """"""\n    g()\n', '    """', {}, None),
        ('def f():\n    """"""\n    g()\n', '    """', {"inComments": "never"}, "in a comment"),
        ('x = "a "\n', '"a ', {}, "in a string"),
        ('x = "a "\n', '"a ', {"inStrings": True}, None),
        ('x = f"{}"\n', "{", {}, None),
    ],
)
async def test_comments_and_strings_get_something_if_it_is_wanted(
    runtime: Address, text: str, after: str, options: dict[str, object], reason: str | None
) -> None:
    async with typing(runtime, text, **options) as user:
        shown = await user.shown(after)
        assert (shown is None) == (reason is not None), log_of(user.client)
        if reason is not None:
            assert reason in log_of(user.client)
            assert await user.shown(after, is_invoked=True) is not None


async def test_nothing_over_the_editors_own_menu_unless_it_is_wanted(runtime: Address) -> None:
    word = types.Range(types.Position(0, 4), types.Position(0, 6))
    selected = types.SelectedCompletionInfo(range=word, text="path")
    async with typing(runtime, "x = pa\n") as user:
        assert not await inline_items(user.client, ask_inline(user.uri, 0, 6, selected=selected))
        assert "the editor's own menu is open" in log_of(user.client)
        asked = ask_inline(user.uri, 0, 6, selected=selected, is_invoked=True)
        assert await inline_items(user.client, asked)


async def test_silence_after_three_dismissals_until_the_line_is_another_one(
    runtime: Address,
) -> None:
    async with typing(runtime, "x = \n\ny = \n") as user:
        for typed in ("x = ", "x = a ", "x = a b "):
            if typed != "x = ":
                user.change((typed[:-2], typed))
            assert await user.shown(typed) == "value"
            user.dismiss(typed)
        user.change(("x = a b ", "x = a b c "))
        assert await user.shown("x = a b c ") is None
        assert "dismissed 3 times" in log_of(user.client)
        assert await user.shown("x = a b c ", is_invoked=True) is not None
        assert await user.shown("y = ") == "value"
        user.change(("\ny", "\nimport os\ny"))  # above and below, nothing changes
        assert await user.shown("x = a b c ") is None
        user.change(("x = a b c ", "total = sum(amounts) + "))
        assert await user.shown("total = sum(amounts) + ") == "value"


async def test_what_is_accepted_and_taken_back_three_times_is_silent(runtime: Address) -> None:
    async with typing(runtime, "x = \n") as user:
        for number in range(3):
            end = "x = " + "+ " * number
            assert await user.shown(end) == "value"
            user.change((end, f"{end}value"))
            user.change((f"{end}value", end))
            user.change((end, f"{end}+ "))
        assert await user.shown("x = + + + ") is None
        assert "dismissed 3 times" in log_of(user.client)


async def test_settings_of_a_language_go_before(runtime: Address) -> None:
    languages = {"python": {"inStrings": True}, "go": {"inStrings": 7}, "c": {"model": "x"}}
    async with typing(runtime, 'x = "a "\n', languages=languages) as user:
        assert await user.shown('"a ') == "value"
        assert "languages, 'go': option 'inStrings' keeps" in log_of(user.client)
        assert "languages, 'c': option 'model' is not per language" in log_of(user.client)
    async with typing(runtime, 'x = "a "\n', name="a.js", languages=languages) as user:
        assert await user.shown('"a ') is None


async def test_a_silent_place_is_not_filled_ahead(runtime: Address) -> None:
    """After the suggestion the cursor would be in a comment: only the line below is asked for."""
    server = rule_server(text="1  # one")
    options = {"debounceMs": 0, "fillAhead": "always", "nextEdit": "off", "projectContext": False}
    async with editing(vscode(), runtime, server=server, options=options) as client:
        uri = open_document(client, "a.py", "x = \n")
        assert await inline_items(client, ask_inline(uri, 0, 4))
        status = await engine_once(runtime, lambda status: status.ahead.num_asked == 1)
        assert status.ahead.num_asked == 1


async def test_a_menu_of_completions_is_empty_in_a_comment_that_is_typed(runtime: Address) -> None:
    server = rule_server(text="value")
    async with editing(neovim(), runtime, server=server, options=FAST) as client:
        text = "x = 1  # the total"
        user = Typist(client, open_document(client, "a.py", text), text)
        user.change(("total", "total "))
        asked = types.CompletionParams(
            types.TextDocumentIdentifier(user.uri), types.Position(0, len(user.text))
        )
        typed = await client.text_document_completion_async(asked)
        assert isinstance(typed, types.CompletionList) and not typed.items
        again = await client.text_document_completion_async(asked)
        assert isinstance(again, types.CompletionList) and again.items
