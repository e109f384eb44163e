"""Manners over LSP alone: which automatic requests get nothing, and that invoked ones always do."""

from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from editor_clients import Page, neovim, page
from engine_watch import engine_once
from lsprotocol import types

from intarsia.engine.ipc.address import Address

FAST = {"fillAhead": "off", "nextEdit": "off"}
Edits = Sequence[tuple[str, str]]


@dataclass(slots=True)
class Typist(Page):
    """A user in one document, who makes changes and gets automatic suggestions."""

    text: str = ""

    def edit(self, *edits: tuple[str, str]) -> None:
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

    async def after(self, text: str, *, is_invoked: bool = False) -> str | None:
        """Return what is suggested after the first occurrence of a text, None if nothing is."""
        place = self._position(self.text.index(text) + len(text))
        shown = await self.shown(place.line, place.character, is_invoked=is_invoked)
        return shown[0] if shown else None

    def dismiss(self, after: str) -> None:
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
    runtime, text, *, written="value", who=None, name="a.py", language="python", **options
):
    how = {"who": who, "name": name, "language": language, "options": {**FAST, **options}}
    async with page(runtime, text, text=written, **how) as user:
        yield Typist(user.client, user.uri, text=text)


# A text, and changes with a place and what is suggested there; or why nothing is, after "no: ".
HISTORIES: dict[str, tuple[str, list[tuple[Edits, str, str]]]] = {
    "a deletion, until a character is typed": (
        "x = ab\n",
        [
            ([("ab", "a")], "x = a", "no: text was just deleted here"),
            ([("x = a", "x = a + ")], "x = a + ", "value"),
        ],
    ),
    "an indentation that is taken back is no deletion": (
        "if a:\n    b = 1\n",
        [
            ([("b = 1\n", "b = 1\n    \n")], "b = 1\n    ", "value"),
            ([("b = 1\n    \n", "b = 1\n\n")], "b = 1\n", "value"),
        ],
    ),
    "undo and redo": (
        "x = 1\n",
        [
            ([("x = 1", "x = 1 + total")], "total", "value"),
            ([("x = 1 + total", "x = 1")], "x = 1", "no: undone or redone"),
            ([("x = 1", "x = 1 + total")], "total", "no: undone or redone"),
        ],
    ),
    "a formatter or replace all": (
        "a=1\nb=2\nc=a\n",
        [
            (
                [("a=1", "a = 10"), ("b=2", "b = 20"), ("c=a", "c = a")],
                "c = a",
                "no: as a formatter does",
            ),
            ([("c = a", "c = a + ")], "c = a + ", "value"),
        ],
    ),
    "a change elsewhere does not silence this line": (
        "first = 12\n\nx = \n",
        [([("first = 12", "first = 1")], "x = ", "value")],
    ),
    "what is typed along stays though a letter is taken back": (
        "x = \n",
        [
            ([], "x = ", "value"),
            ([("x = ", "x = va")], "x = va", "lue"),
            ([("x = va", "x = v")], "x = v", "alue"),
        ],
    ),
}


@pytest.mark.parametrize(("text", "history"), HISTORIES.values(), ids=HISTORIES)
async def test_what_was_changed_decides(runtime, text, history):
    async with typing(runtime, text) as user:
        for edits, place, expected in history:
            if edits:
                user.edit(*edits)
            reason = expected.partition("no: ")[2]
            num_told = user.log.count(reason)
            assert await user.after(place) == (None if reason else expected)
            assert not reason or user.log.count(reason) > num_told


async def test_nothing_after_a_paste_but_after_an_accepted_suggestion(runtime: Address) -> None:
    body = "for item in items:\n    print(item)\n    count(item)"
    async with typing(runtime, "def f(items):\n    \n", written=body) as user:
        accepted = await user.after("    ")
        assert accepted is not None and "\n" in accepted
        user.edit(("    \n", f"    {accepted}\n"))
        await user.after(accepted)
        assert "pasted" not in user.log
        user.edit((accepted, accepted + "\n    for item in items:\n        print(item)"))
        assert await user.after("items:\n        print(item)") is None
        assert "text was just pasted here" in user.log


@pytest.mark.parametrize(
    ("text", "after", "options", "reason"),
    [
        ("x = 1  # the total \n", "total ", {"inComments": "documentation"}, "in a comment"),
        ("x = 1  # the total \n", "total ", {}, None),
        ('def f():\n    """"""\n    g()\n', '    """', {"inComments": "documentation"}, None),
        ('def f():\n    """"""\n    g()\n', '    """', {"inComments": "never"}, "in a comment"),
        ('x = "a "\n', '"a ', {"inStrings": False}, "in a string"),
        ('x = "a "\n', '"a ', {}, None),
        ('x = f"{}"\n', "{", {"inStrings": False}, None),
    ],
)
async def test_comments_and_strings_get_something_if_it_is_wanted(
    runtime, text, after, options, reason
):
    async with typing(runtime, text, **options) as user:
        assert (await user.after(after) is None) == (reason is not None), user.log
        if reason is not None:
            assert reason in user.log
            assert await user.after(after, is_invoked=True) is not None


async def test_over_the_editors_own_menu_manners_go_by_where_the_cursor_is(runtime):
    word = types.Range(types.Position(0, 4), types.Position(0, 6))
    selected = types.SelectedCompletionInfo(range=word, text="pathname.")
    async with typing(runtime, "x = pa\ny = ab\n") as user:
        user.edit(("y = ab", "y = a"))  # a deletion, where the selected word would reach to
        assert await user.shown(0, 6, selected=selected) == ["pathname.value"]


async def test_nothing_over_the_editors_own_menu_where_it_is_not_wanted(runtime: Address) -> None:
    word = types.Range(types.Position(0, 4), types.Position(0, 6))
    selected = types.SelectedCompletionInfo(range=word, text="path.")
    async with typing(runtime, "x = pa\n", overMenu=False) as user:
        assert not await user.shown(0, 6, selected=selected)
        assert "the editor's own menu is open" in user.log
        assert await user.shown(0, 6, selected=selected, is_invoked=True)


async def test_silence_after_three_dismissals_until_the_line_is_another_one(runtime):
    async with typing(runtime, "x = \n\ny = \n") as user:
        for typed in ("x = ", "x = a ", "x = a b "):
            if typed != "x = ":
                user.edit((typed[:-2], typed))
            assert await user.after(typed) == "value"
            user.dismiss(typed)
        user.edit(("x = a b ", "x = a b c "))
        assert await user.after("x = a b c ") is None
        assert "dismissed 3 times" in user.log
        assert await user.after("x = a b c ", is_invoked=True) is not None
        assert await user.after("y = ") == "value"
        user.edit(("\ny", "\nimport os\ny"))  # above and below, nothing changes
        assert await user.after("x = a b c ") is None
        user.edit(("x = a b c ", "total = sum(amounts) + "))
        assert await user.after("total = sum(amounts) + ") == "value"


async def test_what_is_accepted_and_taken_back_three_times_is_silent(runtime: Address) -> None:
    async with typing(runtime, "x = \n") as user:
        for number in range(3):
            end = "x = " + "+ " * number
            assert await user.after(end) == "value"
            user.edit((end, f"{end}value"))
            user.edit((f"{end}value", end))
            user.edit((end, f"{end}+ "))
        assert await user.after("x = + + + ") is None
        assert "dismissed 3 times" in user.log


@pytest.mark.parametrize(
    ("new", "written", "shown"),
    [
        ("price", "_cents", None),
        ("pr", "ice_cents + 1", None),
        ("price", "_all", "_all"),
        ("cost", "_cents", "_cents"),
    ],
)
async def test_a_name_that_is_being_replaced_is_not_brought_back(runtime, new, written, shown):
    text = "total = price_cents\nprint(total)\n"
    async with typing(runtime, text, written=written, nextEdit="sure") as user:
        user.edit(("price_cents", new[:-1]))
        user.edit((f"total = {new[:-1]}", f"total = {new}"))
        assert await user.after(f"total = {new}") == shown
        assert await user.after(f"total = {new}", is_invoked=True) == written


@pytest.mark.parametrize(
    ("written", "typed", "shown"),
    [
        ("total", "", None),  # what is accepted ends with its word
        ("-1", "", "-1"),
        ("total", "s", "total"),  # the user types on
        ("total", " + ", "total"),
    ],
)
async def test_an_accepted_word_does_not_become_longer(runtime, written, typed, shown):
    async with typing(runtime, "x = \n", written=written) as user:
        assert await user.after("x = ") == written
        user.edit(("x = ", f"x = {written}"))
        if typed:
            user.edit((written, written + typed))
        assert await user.after(written + typed) == shown
        assert ("was just accepted would become longer" in user.log) == (shown is None)
        assert await user.after(written + typed, is_invoked=True) == written


async def test_settings_of_a_language_go_before(runtime: Address) -> None:
    languages = {"python": {"inStrings": True}, "go": {"inStrings": 7}, "c": {"model": "x"}}
    silent = {"inStrings": False, "languages": languages}
    async with typing(runtime, 'x = "a "\n', **silent) as user:
        assert await user.after('"a ') == "value"
        assert "languages, 'go': option 'inStrings' keeps" in user.log
        assert "languages, 'c': option 'model' is not per-language" in user.log
    script = {"name": "a.js", "language": "javascript"}
    async with typing(runtime, 'x = "a "\n', **silent, **script) as user:
        assert await user.after('"a ') is None


async def test_a_silent_place_is_not_filled_ahead(runtime: Address) -> None:
    """After the suggestion the cursor would be in a comment: only the line below is asked for."""
    options = {"fillAhead": "always", "projectContext": False, "inComments": "never"}
    async with typing(runtime, "x = \n", written="1  # one", **options) as user:
        assert await user.after("x = ")
        status = await engine_once(runtime, lambda status: status.ahead.num_asked == 1)
        assert status.ahead.num_asked == 1


async def test_a_menu_of_completions_is_empty_in_a_comment_that_is_typed(runtime: Address) -> None:
    text = "x = 1  # the total"
    async with typing(runtime, text, who=neovim(), inComments="documentation") as user:
        user.edit(("total", "total "))
        assert not (await user.menu(0, len(user.text))).items
        again = await user.client.text_document_completion_async(
            types.CompletionParams(
                types.TextDocumentIdentifier(user.uri), types.Position(0, len(user.text))
            )
        )
        assert isinstance(again, types.CompletionList) and again.items
