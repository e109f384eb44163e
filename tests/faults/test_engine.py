"""The engine is killed, stopped, wedged or asleep: at each point of a fill, and between."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from editor_clients import ask_inline
from engine_watch import until
from faults.editor import BY_DIGEST, Editor, editor_on
from faults.fault_server import fault_server_command
from faults.ground import PATIENCE_S, Ground

PATIENT = {"deadlineMs": 60_000}
SERVER = fault_server_command(rules=[BY_DIGEST, ["poison =", "!crash"]])


async def test_killed_before_a_fill(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        pid = (await ground.engine()).pid
        os.kill(pid, signal.SIGKILL)
        await until_answered(editor, num_failures=1)  # it may still reach the dying engine
        assert (await ground.engine()).pid != pid


async def test_killed_during_a_fill(ground: Ground) -> None:
    command = fault_server_command(rules=[BY_DIGEST], text="one + two", step_seconds=1)
    async with editor_on(ground, command, options=PATIENT) as editor:
        asking = asyncio.create_task(editor.fill("long = "))
        os.kill((await ground.engine("filling")).pid, signal.SIGKILL)
        assert await asking is None
        await editor.told("stopped before it answered")
        await until(lambda: editor.status()["state"] == "failed", PATIENCE_S)
        assert await editor.is_in_step()
        await editor.is_well()


async def test_killed_by_each_fill_it_is_started_ever_more_seldom(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        for _ in range(5):
            assert await editor.fill("poison = ") is None
        await editor.told("times in a row; it may start again in")
        assert ground.log().count(" serves ") <= 4


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

RULES = [BY_DIGEST, ["wedge =", "!wedge"], ["spin =", "!spin"]]
STUCK_SERVER = fault_server_command(rules=RULES, text="a")


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


async def until_answered(editor: Editor, *, num_failures: int) -> None:
    """Ask until there is an answer; at most this many requests may fail before."""
    for _ in range(num_failures):
        if await editor.is_in_step():
            return
    assert await editor.is_in_step()


async def test_stopped_before_a_fill(ground: Ground) -> None:
    async with editor_on(ground, STUCK_SERVER) as editor:
        pid = (await ground.engine()).pid
        stop(pid)
        assert await editor.fill("x = ") is None
        await editor.told("the engine does not answer")
        assert editor.status()["state"] == "failed"
        await until_answered(editor, num_failures=1)
        assert [it.pid for it in ground.processes("rule_engine")] == [(await ground.engine()).pid]


async def test_stopped_during_a_fill_and_the_user_types_on(ground: Ground) -> None:
    """No request lives long enough to be overdue, and the engine is found to hang all the same."""
    command = fault_server_command(rules=[BY_DIGEST], text="abc def", step_seconds=1)
    async with editor_on(ground, command, options={"deadlineMs": 60_000}) as editor:
        asking = asyncio.create_task(editor.fill("x = "))
        stop((await ground.engine("filling")).pid)

        async def is_found() -> bool:
            editor.write("y = ")
            newer = asyncio.create_task(editor.ask())
            await asyncio.wait([newer], timeout=0.2)
            end = editor.end()
            params = ask_inline(editor.uri, end.line, end.character)
            await editor.client.text_document_inline_completion_async(params)
            return await newer is None and editor.status()["state"] == "failed"

        await until(is_found, PATIENCE_S)
        assert await asking is None
        await until_answered(editor, num_failures=2)


async def test_stopped_and_continued_in_between(ground: Ground) -> None:
    async with editor_on(ground, STUCK_SERVER) as editor:
        pid = (await ground.engine()).pid
        stop(pid)
        assert await editor.fill("x = ") is None
        os.kill(pid, signal.SIGCONT)
        assert await editor.is_in_step()
        assert (await ground.engine()).pid == pid
        await editor.is_well()


async def test_stopped_before_an_editor_connects(ground: Ground) -> None:
    async with editor_on(ground, STUCK_SERVER):
        stop((await ground.engine()).pid)
        async with editor_on(ground, STUCK_SERVER, options={"deadlineMs": 60_000}) as editor:
            assert await editor.is_in_step()


@pytest.mark.parametrize(
    ("prefix", "told", "num_failures"),
    [("wedge = ", "has made no step for", 2), ("spin = ", "has not reported its status", 4)],
)
async def test_its_model_s_thread_is_wedged_or_lets_no_other_thread_work(
    ground: Ground, prefix: str, told: str, num_failures: int
) -> None:
    """The second looks as one that is starved of the processor, and is given more time."""
    async with editor_on(ground, STUCK_SERVER) as editor:
        pid = (await ground.engine()).pid
        assert await editor.fill(prefix) is None
        await editor.told(told)
        await until_answered(editor, num_failures=num_failures)
        assert (await ground.engine()).pid != pid


async def test_editor_and_engine_sleep_past_the_deadline(ground: Ground) -> None:
    command = fault_server_command(rules=[BY_DIGEST], step_seconds=0.5)
    async with editor_on(ground, command, options={"deadlineMs": 1_000}) as editor:
        asking = asyncio.create_task(editor.is_in_step())
        pids = [(await ground.engine("filling")).pid, editor.client._server.pid]
        for pid in pids:
            stop(pid)
        await asyncio.to_thread(signal.sigtimedwait, [], 4)  # the night
        for pid in reversed(pids):
            os.kill(pid, signal.SIGCONT)
        await asking
        assert await editor.is_in_step()
        assert (await ground.engine()).pid == pids[0]
        await editor.is_well()


async def test_a_command_ends_it_and_is_answered_by_another_one(ground, tmp_path):
    source = tmp_path / "source.py"
    source.write_text("x = \n")
    async with editor_on(ground, STUCK_SERVER):
        stop((await ground.engine()).pid)
    script = Path(__file__).parents[1] / "support" / "faults" / "fault_command.py"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, script, "fill", source, "--at", "1:5"),
        env={**os.environ, **ground.environment()},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, errors = await process.communicate()
    assert process.returncode == 0, errors
    assert b"42" in printed
