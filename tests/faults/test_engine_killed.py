"""The engine's process is killed: the next request starts another one."""

import asyncio
import os
import signal

from faults.editor import BY_DIGEST, Editor, editor_on
from faults.fault_server import fault_server_command
from faults.ground import Ground

PATIENT = {"deadlineMs": 60_000}
SERVER = fault_server_command(rules=[BY_DIGEST, ["poison =", "!crash"]])


async def is_answered_soon(editor: Editor) -> bool:
    """Tell whether one of two requests is answered: the first may still reach the dying engine."""
    return await editor.is_in_step() or await editor.is_in_step()


async def test_killed_before_a_fill(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        pid = (await ground.engine()).pid
        os.kill(pid, signal.SIGKILL)
        assert await is_answered_soon(editor)
        assert (await ground.engine()).pid != pid


async def test_killed_during_a_fill(ground: Ground) -> None:
    command = fault_server_command(rules=[BY_DIGEST], text="one + two", step_seconds=1)
    async with editor_on(ground, command, options=PATIENT) as editor:
        asking = asyncio.create_task(editor.fill("long = "))
        os.kill((await ground.engine("filling")).pid, signal.SIGKILL)
        assert await asking is None
        await editor.told("stopped before it answered")
        assert await editor.is_in_step()


async def test_killed_after_a_fill(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        assert await editor.is_in_step()
        os.kill((await ground.engine()).pid, signal.SIGKILL)
        assert await is_answered_soon(editor)


async def test_killed_by_each_fill_it_is_started_ever_more_seldom(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        for _ in range(5):
            assert await editor.fill("poison = ") is None
        await editor.told("times in a row; it may start again in")
        assert ground.log().count(" serves ") <= 4
