"""The members that a client tells of after a dot: when it is asked, and what its answers do."""

import asyncio
import builtins
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import Any

import pytest
from editor_clients import Page, open_document
from engine_watch import until
from extended_client import told_page

from intarsia.engine.ipc.messages import Fill
from intarsia.lsp.engine_connection import EngineConnection
from intarsia.lsp.project import editor_members
from intarsia.lsp.protocol_extensions import MEMBERS

TEXT = "import shop\n\nx = '𝛑'; shop.\n"
DOT = (2, 15)  # right after it, in UTF-16 units


def all_of(*names: object) -> dict[str, object]:
    return {"names": [*names], "isIncomplete": False}


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Sequence[str]]]:
    """The names that each fill is to begin with."""
    names: list[Sequence[str]] = []

    def recorded(fill: Callable[..., Any]) -> Callable[..., Any]:
        async def recording(engine: EngineConnection, request: Fill, *others: Any) -> Any:
            names.append(request.names)
            return await fill(engine, request, *others)

        return recording

    for how in ("fill", "fill_ahead"):
        monkeypatch.setattr(EngineConnection, how, recorded(getattr(EngineConnection, how)))
    yield names


@asynccontextmanager
async def editor(runtime, answer: Callable[[], Any], text=TEXT, asked=("members",), **options):
    """Open a text in a client that answers so; yield it and the questions that it gets."""
    questions: list[Any] = []
    async with told_page(
        runtime, text, *asked, options={"fillAhead": "off", **options}, text="open()"
    ) as (user, _):

        async def members(params: Any) -> Any:
            questions.append(params)
            found = answer()
            return await found if isawaitable(found) else found

        user.client.feature(MEMBERS)(members)
        yield user, questions


async def test_the_names_that_a_client_tells_right_after_the_dot_must_follow(runtime, filled):
    async with editor(runtime, lambda: all_of("open", "$close", "größe", "a b", "open")) as opened:
        user, questions = opened
        assert await user.shown(*DOT) == ["open()"]
        for typed in "op":
            user.insert(2, DOT[1] + user.version - 1, typed)
        assert await user.shown(2, DOT[1] + 2) == ["en()"]
        user.change(TEXT.replace("shop.", "shop.clos"))
        await user.items(2, DOT[1] + 4)
    (question,) = questions
    assert (question.textDocument.uri, question.textDocument.version) == (user.uri, 1)
    assert (question.position.line, question.position.character) == DOT
    assert filled[0] == ("open", "$close", "größe")
    assert filled[-1] == (), "a half-typed word that begins none of them"


def failing() -> Any:
    raise RuntimeError("the other server has crashed")


@pytest.mark.parametrize(
    "answer",
    [
        lambda: None,
        failing,
        all_of,
        lambda: all_of("__class__", "_x"),
        lambda: all_of("open", *dir(builtins)),
        lambda: all_of(1),
        lambda: all_of("x" * 10_000),
        lambda: all_of(*map("n{}".format, range(600))),
        lambda: all_of(*map("n{}".format, range(100_000))),
        lambda: {"names": "open", "isIncomplete": False},
        lambda: ["open"],
        lambda: 7,
    ],
)
async def test_an_answer_that_is_of_no_use_leaves_the_suggestion_as_it_is(runtime, filled, answer):
    async with editor(runtime, answer) as (user, questions):
        assert await user.shown(*DOT) == ["open()"]
    assert len(questions) == 1 and set(filled) == {()}


@pytest.mark.parametrize("language", ["python", "typescript"])
async def test_a_list_that_may_lack_some_counts_only_of_servers_that_tell_all(
    runtime, filled, language
):
    answer = {**all_of("open"), "isIncomplete": True}
    async with editor(runtime, lambda: answer, text="") as (user, _):
        other = Page(user.client, open_document(user.client, "b", "shop.\n", language))
        await other.items(0, 5)
    assert filled == [("open",) if language == "python" else ()]


async def test_a_late_answer_is_waited_for_once_and_then_used(runtime, filled, monkeypatch):
    monkeypatch.setattr(editor_members, "DEADLINE_S", 0.3)
    come = asyncio.Event()

    async def late() -> Any:
        await come.wait()
        return all_of("close")

    async with editor(runtime, late) as (user, questions):
        began = time.monotonic()
        assert await user.shown(*DOT) == ["open()"]
        assert time.monotonic() - began >= 0.3
        monkeypatch.setattr(editor_members, "DEADLINE_S", 60)
        user.change(TEXT.replace("shop.", "shop; x."))
        assert await user.shown(2, DOT[1] + 3) == ["open()"], "nothing else is asked meanwhile"
        user.change(TEXT)
        come.set()
        await asyncio.sleep(0)
        await user.items(*DOT, is_invoked=True)
    assert len(questions) == 1
    assert filled[0] == filled[1] == () and filled[-1] == ("close",)


@pytest.mark.usefixtures("short_pauses")
async def test_an_answer_that_a_late_one_refutes_is_written_again(runtime, filled, monkeypatch):
    monkeypatch.setattr(editor_members, "DEADLINE_S", 0.01)
    come = asyncio.Event()

    async def late() -> Any:
        await come.wait()
        return all_of("close")

    async with editor(runtime, late, fillAhead="always") as (user, _):
        assert await user.shown(*DOT) == ["open()"]
        come.set()
        await until(lambda: ("close",) in filled)
    assert filled[0] == ()


@pytest.mark.parametrize(
    "line",
    ["x = shop", "x = 1.", "# shop.", "x = 'shop.", "    self.", "x = ...", ". "],
)
async def test_nothing_is_asked_where_no_known_member_follows(runtime, filled, line):
    text = f"def f(self, shop):\n{line}\n"
    async with editor(runtime, lambda: all_of("close"), text=text) as (user, questions):
        await user.items(1, len(line), is_invoked=True)
    assert not questions and not any(filled)


@pytest.mark.parametrize("line", ["shop().", "x = self.", "f(shop[0].", "import shop.", "a.b."])
async def test_it_is_asked_after_any_expression(runtime, line):
    async with editor(runtime, lambda: all_of("close"), text=line + "\n") as (user, questions):
        await user.items(0, len(line), is_invoked=True)
    assert len(questions) == 1


async def test_a_client_that_has_not_said_so_is_asked_nothing(runtime, filled):
    async with editor(runtime, lambda: all_of("close"), asked=("status",)) as (user, questions):
        assert await user.shown(*DOT) == ["open()"]
    assert not questions and set(filled) == {()}
