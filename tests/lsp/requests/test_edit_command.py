"""The command ``intarsia.edit``: what it answers, what it has applied, and when it refuses."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from client_edits import (
    EDIT_COMMAND,
    Applied,
    apply_edits,
    cursor,
    edit_params,
    lines,
    run_edit,
    send_command,
    text_edits,
)
from editor_clients import Page, neovim, page, vscode
from engine_watch import engine_once, until
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from rule_filler import CAUTION
from rule_server import rule_server, rule_server_command

from intarsia.engine.ipc.address import Address

INVALID_PARAMS, REQUEST_CANCELLED = -32602, -32800
TEXT = "def one():\n    ...\n\n\ndef two():\n    ...\n"
FILLED = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
RULES = [("one():\n   ", "return 1"), ("two():\n   ", "return 2")]
COMMAND = rule_server(rules=RULES, text="x = 1")
HANGING = rule_server(text="x", step_seconds=0.02, num_steps=10_000)
SLOW = rule_server(rules=RULES, text="x = 1", step_seconds=0.3, num_steps=2)
PATIENT = {"invokedDeadlineMs": 60_000}
STALE = "the document has changed: ask again"


@dataclass(slots=True)
class Editing(Page):
    """A user who edits by the command, in an editor that makes the edits."""

    text: str = ""
    applied: Applied = field(init=False)

    def __post_init__(self) -> None:
        self.applied = Applied(self.client)

    async def run(self, kind="fillAll", where=None, **others) -> Mapping[str, Any]:
        return await run_edit(self.client, kind, self.uri, where, **others)

    async def begun(self, runtime: Address, **fields: Any) -> "asyncio.Future[Any]":
        """Send the command for all holes; return its answer to come once the engine fills."""
        params = edit_params("fillAll", self.uri, None)
        if token := fields.get("token"):
            params.work_done_token = token
            self.client.progress_reports[token] = []  # or the client's library drops them
        answer = send_command(self.client, params, "edit")
        await engine_once(runtime, lambda status: status.state == "filling")
        return answer

    def result(self) -> str:
        """Return the text with the only edit that was applied."""
        (params,) = self.applied.params
        return apply_edits(self.text, text_edits(params.edit))

    def told(self) -> list[str]:
        return [message.message for message in self.client.messages]


@asynccontextmanager
async def editing(runtime: Address, text: str = TEXT, /, **how: Any) -> AsyncIterator[Editing]:
    if not {"server", "rules", "text"} & how.keys():
        how["server"] = COMMAND
    async with page(runtime, text, **how) as user:
        yield Editing(user.client, user.uri, text=text)


async def answered(answer: "asyncio.Future[Any]") -> Any:
    return await asyncio.wait_for(answer, 20)


async def is_cancelled(answer: "asyncio.Future[Any]", runtime: Address) -> None:
    with pytest.raises(JsonRpcException) as raised:
        await answered(answer)
    assert raised.value.code == REQUEST_CANCELLED
    await engine_once(runtime, lambda status: status.state == "ready")


CURSORS = "a = 1\r\nb = \r\nüü = \r\nd = xyz\r\n"
XYZ = types.Range(types.Position(3, 4), types.Position(3, 7))
AT = [cursor(2, 5), cursor(1, 4), cursor(2, 5), XYZ]


@pytest.mark.parametrize(
    ("text", "ranges", "result", "told"),
    [
        (CURSORS, AT, "a = 1\r\nb = 2\r\nüü = 3\r\nd = 4\r\n", (3, None)),
        ("", [cursor(0, 0)], "x = 9", (1, None)),
        (CURSORS, [cursor(99, 99)], CURSORS + "x = 9", (1, None)),  # beyond the end
        (CURSORS, [lines(1, 3), AT[0]], None, (0, "two of the places overlap")),
    ],
)
async def test_the_places_of_all_cursors_are_one_edit(runtime, text, ranges, result, told):
    rules = [("b =", " 2"), ("üü =", " 3"), ("d =", " 4")]
    async with editing(runtime, text, rules=rules, text="x = 9") as user:
        answer = await user.run(ranges=ranges)
        assert answer["holes"] == told[0]
        assert (told[1] or "") in (answer["reason"] or "")
        if result is not None:
            assert (user.result(), answer["reason"]) == (result, None)


@pytest.mark.parametrize(
    ("text", "rules", "where", "result", "reason"),
    [
        (
            "def f(ü):\r\n\treturn ü\r\n",
            [('\t""', "Return the same. And then")],
            cursor(1, 9),
            'def f(ü):\r\n\t"""Return the same."""\r\n\treturn ü\r\n',
            None,
        ),
        ("def f():\n    return 1\n", [('"""', "")], cursor(0, 0), None, "wrote nothing"),
        ("x = 1\n", [], cursor(0, 2), None, "there is no function here"),
        ("", [], cursor(7, 7), None, "there is no function here"),
    ],
)
async def test_a_docstring_is_written(runtime, text, rules, where, result, reason):
    async with editing(runtime, text, rules=rules, text="") as user:
        answer = await user.run("document", where)
        assert (answer["reason"] is None) == (reason is None), answer["reason"]
        assert (reason or "") in (answer["reason"] or "")
        assert (result is None) == (user.applied.params == [])
        if result is not None:
            assert user.result() == result


@pytest.mark.parametrize("who", [vscode, neovim])
async def test_all_holes_are_filled_in_one_edit(runtime, who):
    async with editing(runtime, who=who()) as user:
        answer = await user.run()
        assert user.result() == FILLED
        assert user.applied.params[0].label == "Fill all holes"
        counts = {"applied": True, "edit": None, "holes": 2, "filled": 2}
        counts |= {"reason": None, "caution": None}
        assert {**answer, "edit": None} == counts
        assert user.told() == []


@pytest.mark.parametrize(
    ("text", "how", "command", "result", "counts"),
    [
        (TEXT, {}, ("fillAll", lines(3, 6)), TEXT[:-4] + "return 2\n", (1, 1)),  # of the range
        (  # the user's marks are holes
            "y = f(@@)\n",
            {"rules": [("y = f", "1, 2")], "text": "", "options": {"holeMarks": ["@@"]}},
            ("fillAll", None),
            "y = f(1, 2)\n",
            (1, 1),
        ),
        (
            "def f():\n    a = 1\n    b = 2\n    return a\n",
            {"rules": [("def f():\n", "    c = 3\n")]},
            ("fill", lines(1, 3)),
            "def f():\n    c = 3\n    return a\n",
            (1, 1),
        ),
        (  # an engine that dies is the reason, and the server goes on
            TEXT,
            {"server": rule_server_command(rules=RULES[:1], text="!crash")},
            ("fillAll", None),
            TEXT.replace("...", "return 1", 1),
            (2, 1),
        ),
    ],
)
async def test_what_is_asked_for_is_filled_and_nothing_else(
    runtime, text, how, command, result, counts
):
    async with editing(runtime, text, **how) as user:
        answer = await user.run(*command)
        assert (user.result(), answer["holes"], answer["filled"]) == (result, *counts)
        is_dead = "the engine gave no answer" in (answer["reason"] or "")
        assert is_dead == ("server" in how)


async def test_what_could_not_be_filled_is_told(runtime: Address) -> None:
    async with editing(runtime, rules=RULES[:1], text="") as user:
        answer = await user.run()
        assert user.result() == TEXT.replace("...", "return 1", 1)
        assert (answer["filled"], answer["reason"]) == (1, "the model wrote nothing")
        assert user.told() == ["intarsia: 1 of 2 filled: the model wrote nothing"]


async def test_a_selection_is_rewritten_by_the_noise_that_is_asked_for(runtime: Address) -> None:
    where = types.Range(types.Position(1, 4), types.Position(1, 19))
    async with editing(runtime, "def f():\n    one, two = 3, 4\n") as user:
        for others, expected in (
            ({}, "ONE, TWO = 3, 4"),
            ({"noise": 0.25}, "ONE, two = 3, 4"),
            ({"noise": 0.25, "seed": 1}, "one, TWO = 3, 4"),
        ):
            answer = await user.run("rewrite", where, apply=False, **others)
            (change,) = answer["edit"]["documentChanges"]
            assert [edit["newText"] for edit in change["edits"]] == [expected]


async def test_a_rewrite_that_changes_nothing_is_no_edit(runtime: Address) -> None:
    async with editing(runtime, "ONE = 1\n") as user:
        answer = await user.run("rewrite", lines(0, 1), noise=1)
        assert (answer["applied"], answer["edit"]) == (False, None)
        assert answer["reason"] == "the model would write the same"
        assert user.applied.params == []
        assert user.told() == ["intarsia: the model would write the same"]


async def test_a_selection_is_edited_by_an_instruction_and_the_model_judged_once(runtime):
    text = "def f():\n    return 1\n\n\nf()\n"
    async with editing(runtime, text, text="async def f():\n    return 1\n") as user:
        for number in (1, 2):
            answer = await user.run("instruct", lines(0, 2), instruction="make it async")
            assert (answer["applied"], answer["reason"]) == (True, None)
            assert user.applied.params.pop().label == "Edit the selection by an instruction"
            assert answer["caution"] == (CAUTION if number == 1 else None)
            (edit,) = answer["edit"]["documentChanges"][0]["edits"]
            assert edit["newText"] == "async def f():\n    return 1"
        assert user.told() == [f"intarsia: {CAUTION}"]
    async with editing(runtime, text, server=rule_server(text="f(")) as user:
        answer = await user.run("instruct", lines(4, 5), instruction="log it")
        assert (answer["edit"], answer["filled"], user.applied.params) == (None, 0, [])
        assert "would not parse" in answer["reason"] and answer["reason"] in user.told()[0]


async def test_an_edit_that_is_only_returned_has_its_version_and_is_not_told_about(runtime):
    async with editing(runtime, who=neovim()) as user:
        answer = await user.run(apply=False)
        assert answer["applied"] is False
        (change,) = answer["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": user.uri, "version": 1}
        none = await user.run("fill", cursor(2, 0), version=7, apply=False)
        assert none["reason"] == STALE
        assert (user.applied.params, user.told()) == ([], [])


@pytest.mark.parametrize(
    ("place", "text", "version", "reason"),
    [
        ("a.py", "x = 1\n", 1, "there is no hole to fill here"),
        ("a.py", TEXT, 2, STALE),
        ("file:///home/me/.env", TEXT, 1, "excluded by the pattern"),
    ],
)
async def test_an_edit_that_cannot_be_made_says_why(runtime, place, text, version, reason):
    async with editing(runtime, text, name=place, options={"preload": False}) as user:
        answer = await user.run(version=version)
        assert (answer["applied"], answer["edit"], answer["filled"]) == (False, None, 0)
        assert reason in answer["reason"] and reason in user.log and reason in user.told()[0]


async def test_no_version_is_the_version_that_there_is(runtime: Address) -> None:
    async with editing(runtime, "") as user:
        user.text = TEXT
        user.change(TEXT)
        await user.run(version=None)
        assert user.result() == FILLED


async def test_an_edit_that_the_editor_does_not_make_is_reported(runtime: Address) -> None:
    async with page(runtime, TEXT, server=COMMAND) as user:
        Applied(user.client, applied=False, failure_reason="the buffer is read-only")
        answer = await run_edit(user.client, "fillAll", user.uri, None)
        assert answer["applied"] is False and answer["edit"] is not None
        assert answer["reason"] == "the editor did not apply the edit: the buffer is read-only"
        assert "the buffer is read-only" in user.client.messages[0].message
    async with page(runtime, TEXT, server=COMMAND) as user:
        user.client.feature(types.WORKSPACE_APPLY_EDIT)(lambda params: None)
        answer = await asyncio.wait_for(run_edit(user.client, "fillAll", user.uri, None), 20)
        assert not answer["applied"]
        assert "the client's answer cannot be read" in answer["reason"]
    who = vscode()
    who.capabilities.workspace.apply_edit = None
    async with page(runtime, TEXT, who=who, server=COMMAND) as user:
        answer = await run_edit(user.client, "fillAll", user.uri, None)
        assert answer["applied"] is False
        assert "request the edit with apply: false" in answer["reason"]


async def test_an_edit_is_dropped_when_the_document_moves_on_meanwhile(runtime: Address) -> None:
    async with editing(runtime, server=SLOW, options=PATIENT) as user:
        answer = await user.begun(runtime)
        user.change("#\n" + TEXT)
        result = await answered(answer)
        assert (result["applied"], result["edit"], result["reason"]) == (False, None, STALE)
        assert user.applied.params == []
        await engine_once(runtime, lambda status: status.num_fills == 1)


async def test_a_cancel_of_the_request_or_its_progress_reaches_the_engine(runtime: Address) -> None:
    async with editing(runtime, server=HANGING, options=PATIENT) as user:
        answer = await user.begun(runtime)
        told = user.client.progress_reports  # without a token too, where the client takes it
        title = "intarsia: filling all holes"
        await until(lambda: any(it[0].title == title for it in told.values() if it))
        user.client.cancel_request(types.CancelParams("edit"))
        await is_cancelled(answer, runtime)
        answer = await user.begun(runtime, token="token")
        user.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("token"))
        await is_cancelled(answer, runtime)
        assert isinstance(user.client.progress_reports["token"][-1], types.WorkDoneProgressEnd)


async def test_progress_is_reported_on_the_requests_own_token(runtime: Address) -> None:
    async with editing(runtime) as user:
        params = edit_params("fillAll", user.uri, None)
        params.work_done_token = "token"
        user.client.progress_reports["token"] = []  # or the client's library drops them
        await user.client.workspace_execute_command_async(params)
        begin, *reports, end = user.client.progress_reports["token"]
        assert isinstance(begin, types.WorkDoneProgressBegin) and begin.cancellable
        assert begin.title == "intarsia: filling all holes"
        assert [(it.message, it.percentage) for it in reports] == [
            ("hole 1 of 2", 0),
            ("hole 2 of 2", 33),
            ("hole 1 of 2, seeing all the others", 67),
        ]
        assert isinstance(end, types.WorkDoneProgressEnd)


EDIT = {"textDocument": {"uri": "a"}}
PLACE = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
BAD_COMMANDS = [
    (EDIT_COMMAND, None, "expected one argument, got 0"),
    (EDIT_COMMAND, [{}, {}], "expected one argument, got 2"),
    (EDIT_COMMAND, [7], "Expected `object`, got `int`"),
    (EDIT_COMMAND, [{"kind": "fill"}], "missing required field `textDocument`"),
    (EDIT_COMMAND, [{"kind": "melt", **EDIT}], "Invalid enum value 'melt'"),
    (EDIT_COMMAND, [{"kind": "fill", **EDIT}], "a fill needs a range"),
    (EDIT_COMMAND, [{"kind": "fillAll", **EDIT, "noise": 0}], "noise"),
    (EDIT_COMMAND, [{"kind": "fillAll", **EDIT, "noise": 1.5}], "noise"),
    (EDIT_COMMAND, [{"kind": "fillAll", **EDIT, "seed": -1}], "seed"),
    (EDIT_COMMAND, [{"kind": "fillAll", **EDIT, "instruction": "x"}], "no other edit has one"),
    (EDIT_COMMAND, [{"kind": "instruct", **EDIT, "range": PLACE}], "needs an instruction"),
    (EDIT_COMMAND, [{"kind": "fillAll", **EDIT, "range": {"start": {"line": -1}}}], "range.start"),
    (EDIT_COMMAND, [{"kind": "fill", **EDIT, "range": PLACE, "ranges": [PLACE]}], "only a fillAll"),
    (EDIT_COMMAND, [{"kind": "fillAll", **EDIT, "range": PLACE, "ranges": [PLACE]}], "only a fill"),
    (EDIT_COMMAND, [{"kind": "fillAll", **EDIT, "ranges": [PLACE] * 65}], "ranges"),
    ("rm -rf /", None, "known ones: intarsia.edit"),
    *(("intarsia.addImports", [it], "intarsia.addImports") for it in ({}, EDIT, 7)),
]


async def test_bad_commands_are_answered_with_what_is_wrong(runtime: Address) -> None:
    async with editing(runtime, options={"preload": False}) as user:
        for command, arguments, says in BAD_COMMANDS:
            with pytest.raises(JsonRpcException) as raised:
                await user.client.workspace_execute_command_async(
                    types.ExecuteCommandParams(command, arguments)
                )
            assert raised.value.code == INVALID_PARAMS
            assert says in raised.value.message
