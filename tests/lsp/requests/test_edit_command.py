"""The command ``intarsia.edit``: what it answers, what it has applied, and when it refuses."""

import asyncio
from collections.abc import Callable
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
from editor_clients import change_document, editing, log_of, neovim, open_document, vscode
from engine_watch import engine_once, until
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient
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


def applied_text(text: str, applied: Applied) -> str:
    (params,) = applied.params
    return apply_edits(text, text_edits(params.edit))


def told(client: LanguageClient) -> list[str]:
    return [message.message for message in client.messages]


async def answered(answer: "asyncio.Future[Any]") -> Any:
    return await asyncio.wait_for(answer, 20)


@pytest.mark.parametrize("who", [vscode, neovim])
async def test_all_holes_are_filled_in_one_edit(
    runtime: Address, who: Callable[[], types.InitializeParams]
) -> None:
    async with editing(who(), runtime, server=COMMAND) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", TEXT)
        answer = await run_edit(client, "fillAll", uri, None)
        assert applied_text(TEXT, applied) == FILLED
        assert applied.params[0].label == "Fill all holes"
        assert {**answer, "edit": None} == {
            "applied": True,
            "edit": None,
            "holes": 2,
            "filled": 2,
            "reason": None,
        }
        assert told(client) == []


async def test_an_answer_of_the_editor_that_cannot_be_read_ends_the_edit(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND) as client:
        client.feature(types.WORKSPACE_APPLY_EDIT)(lambda params: None)
        uri = open_document(client, "a.py", TEXT)
        answer = await answered(asyncio.ensure_future(run_edit(client, "fillAll", uri, None)))
        assert not answer["applied"]
        assert "the client's answer cannot be read" in answer["reason"]


async def test_only_the_holes_of_the_range_are_filled(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", TEXT)
        answer = await run_edit(client, "fillAll", uri, lines(3, 6))
        assert applied_text(TEXT, applied) == TEXT[:-4] + "return 2\n"
        assert (answer["holes"], answer["filled"]) == (1, 1)


async def test_the_users_marks_are_holes(runtime: Address) -> None:
    options = {"holeMarks": ["@@"]}
    server = rule_server(rules=[("y = f", "1, 2")], text="")
    async with editing(vscode(), runtime, server=server, options=options) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", "y = f(@@)\n")
        await run_edit(client, "fillAll", uri, None)
        assert applied_text("y = f(@@)\n", applied) == "y = f(1, 2)\n"


async def test_a_selection_is_filled(runtime: Address) -> None:
    text = "def f():\n    a = 1\n    b = 2\n    return a\n"
    server = rule_server(rules=[("def f():\n", "    c = 3\n")])
    async with editing(vscode(), runtime, server=server) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", text)
        answer = await run_edit(client, "fill", uri, lines(1, 3))
        assert applied_text(text, applied) == "def f():\n    c = 3\n    return a\n"
        assert (answer["applied"], answer["holes"], answer["filled"]) == (True, 1, 1)


async def test_a_selection_is_rewritten_by_the_noise_that_is_asked_for(runtime: Address) -> None:
    text = "def f():\n    one, two = 3, 4\n"
    where = types.Range(types.Position(1, 4), types.Position(1, 19))
    async with editing(vscode(), runtime, server=COMMAND) as client:
        uri = open_document(client, "a.py", text)
        for others, expected in (
            ({}, "ONE, TWO = 3, 4"),
            ({"noise": 0.25}, "ONE, two = 3, 4"),
            ({"noise": 0.25, "seed": 1}, "one, TWO = 3, 4"),
        ):
            answer = await run_edit(client, "rewrite", uri, where, apply=False, **others)
            (change,) = answer["edit"]["documentChanges"]
            assert [edit["newText"] for edit in change["edits"]] == [expected]


async def test_a_rewrite_that_changes_nothing_is_no_edit(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", "ONE = 1\n")
        answer = await run_edit(client, "rewrite", uri, lines(0, 1), noise=1)
        assert (answer["applied"], answer["edit"]) == (False, None)
        assert answer["reason"] == "the model would write the same"
        assert applied.params == []
        assert told(client) == ["intarsia: the model would write the same"]


async def test_an_edit_that_is_only_returned_has_its_version_and_is_not_told_about(
    runtime: Address,
) -> None:
    async with editing(neovim(), runtime, server=COMMAND) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", TEXT)
        answer = await run_edit(client, "fillAll", uri, None, apply=False)
        assert answer["applied"] is False
        (change,) = answer["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 1}
        none = await run_edit(client, "fill", uri, cursor(2, 0), version=7, apply=False)
        assert none["reason"] == "the document has changed: ask again"
        assert (applied.params, told(client)) == ([], [])


async def test_what_could_not_be_filled_is_told(runtime: Address) -> None:
    server = rule_server(rules=RULES[:1], text="")
    async with editing(vscode(), runtime, server=server) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", TEXT)
        answer = await run_edit(client, "fillAll", uri, None)
        assert applied_text(TEXT, applied) == TEXT.replace("...", "return 1", 1)
        assert (answer["filled"], answer["reason"]) == (1, "the model wrote nothing")
        assert told(client) == ["intarsia: 1 of 2 filled: the model wrote nothing"]


@pytest.mark.parametrize(
    ("place", "text", "version", "reason"),
    [
        ("a.py", "x = 1\n", 1, "there is no hole to fill here"),
        ("a.py", TEXT, 2, "the document has changed: ask again"),
        ("git:/a.py", TEXT, 1, "the document is not a file on disk"),
        ("file:///home/me/.env", TEXT, 1, "excluded by the pattern"),
    ],
)
async def test_an_edit_that_cannot_be_made_says_why(
    runtime: Address, place: str, text: str, version: int, reason: str
) -> None:
    async with editing(vscode(), runtime, server=COMMAND, options={"preload": False}) as client:
        uri = open_document(client, place, text)
        answer = await run_edit(client, "fillAll", uri, None, version=version)
        assert (answer["applied"], answer["edit"], answer["filled"]) == (False, None, 0)
        assert reason in answer["reason"]
        assert reason in log_of(client)
        assert reason in told(client)[0]


async def test_no_version_is_the_version_that_there_is(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", "")
        change_document(client, uri, TEXT, 5)
        await run_edit(client, "fillAll", uri, None, version=None)
        assert applied_text(TEXT, applied) == FILLED


async def test_an_edit_that_the_editor_refuses_is_reported(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND) as client:
        Applied(client, applied=False, failure_reason="the buffer is read-only")
        uri = open_document(client, "a.py", TEXT)
        answer = await run_edit(client, "fillAll", uri, None)
        assert answer["applied"] is False
        assert answer["edit"] is not None
        assert answer["reason"] == "the editor did not apply the edit: the buffer is read-only"
        assert "the buffer is read-only" in told(client)[0]


async def test_an_editor_that_applies_no_edits_is_told_so(runtime: Address) -> None:
    who = vscode()
    assert who.capabilities.workspace is not None
    who.capabilities.workspace.apply_edit = None
    async with editing(who, runtime, server=COMMAND) as client:
        uri = open_document(client, "a.py", TEXT)
        answer = await run_edit(client, "fillAll", uri, None)
        assert answer["applied"] is False
        assert "request the edit with apply: false" in answer["reason"]


async def test_an_edit_is_dropped_when_the_document_moves_on_meanwhile(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=SLOW, options=PATIENT) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", TEXT)
        answer = send_command(client, edit_params("fillAll", uri, None), "edit")
        await engine_once(runtime, lambda status: status.state == "filling")
        change_document(client, uri, "#\n" + TEXT, 2)
        result = await answered(answer)
        assert (result["applied"], result["edit"]) == (False, None)
        assert result["reason"] == "the document has changed: ask again"
        assert applied.params == []
        await engine_once(runtime, lambda status: status.num_fills == 1)


async def test_a_cancel_reaches_the_engine_and_is_answered(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=HANGING, options=PATIENT) as client:
        uri = open_document(client, "a.py", TEXT)
        answer = send_command(client, edit_params("fillAll", uri, None), "edit")
        await engine_once(runtime, lambda status: status.state == "filling")
        client.cancel_request(types.CancelParams("edit"))
        with pytest.raises(JsonRpcException) as raised:
            await answered(answer)
        assert raised.value.code == REQUEST_CANCELLED
        await engine_once(runtime, lambda status: status.state == "ready")


async def test_a_cancel_at_the_progress_ends_the_edit_too(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=HANGING, options=PATIENT) as client:
        uri = open_document(client, "a.py", TEXT)
        params = edit_params("fillAll", uri, None)
        params.work_done_token = "token"
        client.progress_reports["token"] = []  # or the client's library drops them
        answer = send_command(client, params, "edit")
        await engine_once(runtime, lambda status: status.state == "filling")
        client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams("token"))
        with pytest.raises(JsonRpcException) as raised:
            await answered(answer)
        assert raised.value.code == REQUEST_CANCELLED
        await engine_once(runtime, lambda status: status.state == "ready")
        assert isinstance(client.progress_reports["token"][-1], types.WorkDoneProgressEnd)


async def test_progress_is_reported_on_the_requests_own_token(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND) as client:
        Applied(client)
        uri = open_document(client, "a.py", TEXT)
        params = edit_params("fillAll", uri, None)
        params.work_done_token = "token"
        client.progress_reports["token"] = []  # or the client's library drops them
        await client.workspace_execute_command_async(params)
        begin, *reports, end = client.progress_reports["token"]
        assert isinstance(begin, types.WorkDoneProgressBegin) and begin.cancellable
        assert begin.title == "intarsia: filling all holes"
        assert [(it.message, it.percentage) for it in reports] == [
            ("hole 1 of 2", 0),
            ("hole 2 of 2", 33),
            ("hole 1 of 2, seeing all the others", 67),
        ]
        assert isinstance(end, types.WorkDoneProgressEnd)


async def test_progress_is_shown_without_a_token_too_where_the_client_takes_it(
    runtime: Address,
) -> None:
    async with editing(vscode(), runtime, server=HANGING, options=PATIENT) as client:
        uri = open_document(client, "a.py", TEXT)
        answer = send_command(client, edit_params("fillAll", uri, None), "edit")

        async def is_begun() -> bool:
            begun = [reports[0] for reports in client.progress_reports.values() if reports]
            return any(one.title == "intarsia: filling all holes" for one in begun)

        await until(is_begun)
        client.cancel_request(types.CancelParams("edit"))
        with pytest.raises(JsonRpcException):
            await answered(answer)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (None, "expected one argument, got 0"),
        ([{}, {}], "expected one argument, got 2"),
        ([7], "Expected `object`, got `int`"),
        ([{"kind": "fill"}], "missing required field `textDocument`"),
        ([{"kind": "melt", "textDocument": {"uri": "a"}}], "Invalid enum value 'melt'"),
        ([{"kind": "fill", "textDocument": {"uri": "a"}}], "a fill needs a range"),
        ([{"kind": "fillAll", "textDocument": {"uri": "a"}, "noise": 0}], "noise"),
        ([{"kind": "fillAll", "textDocument": {"uri": "a"}, "noise": 1.5}], "noise"),
        ([{"kind": "fillAll", "textDocument": {"uri": "a"}, "seed": -1}], "seed"),
        (
            [{"kind": "fillAll", "textDocument": {"uri": "a"}, "range": {"start": {"line": -1}}}],
            "range.start",
        ),
    ],
)
async def test_bad_arguments_are_answered_with_what_is_wrong(
    runtime: Address, arguments: Any, says: str
) -> None:
    async with editing(vscode(), runtime, server=COMMAND, options={"preload": False}) as client:
        with pytest.raises(JsonRpcException) as raised:
            await client.workspace_execute_command_async(
                types.ExecuteCommandParams(EDIT_COMMAND, arguments)
            )
        assert raised.value.code == INVALID_PARAMS
        assert says in raised.value.message


async def test_another_command_is_not_known(runtime: Address) -> None:
    async with editing(vscode(), runtime, server=COMMAND, options={"preload": False}) as client:
        with pytest.raises(JsonRpcException) as raised:
            await client.workspace_execute_command_async(types.ExecuteCommandParams("rm -rf /"))
        assert raised.value.code == INVALID_PARAMS
        assert "known are: intarsia.edit" in raised.value.message


async def test_an_engine_that_dies_is_the_reason_and_the_server_goes_on(runtime: Address) -> None:
    server = rule_server_command(rules=[*RULES[:1]], text="!crash")
    async with editing(vscode(), runtime, server=server) as client:
        applied = Applied(client)
        uri = open_document(client, "a.py", TEXT)
        answer = await run_edit(client, "fillAll", uri, None)
        assert "the engine gave no answer" in answer["reason"]
        assert (answer["holes"], answer["filled"]) == (2, 1)
        assert applied_text(TEXT, applied) == TEXT.replace("...", "return 1", 1)
