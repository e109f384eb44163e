"""Too many open files: those that are connected go on, and the others find an engine."""

import resource

import psutil
from faults.editor import BY_DIGEST, editor_on
from faults.fault_server import fault_server_command
from faults.ground import Ground
from faults.limits import limited

PATIENT = {"deadlineMs": 60_000}
SERVER = fault_server_command(rules=[BY_DIGEST])


async def test_the_engine_can_open_no_more_files(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        engine = psutil.Process((await ground.engine()).pid)
        assert await editor.is_in_step()
        engine.rlimit(resource.RLIMIT_NOFILE, (engine.num_fds(), engine.num_fds()))
        assert await editor.is_in_step()
        async with editor_on(ground, SERVER, options=PATIENT) as newer:
            assert await newer.is_in_step()
        assert await editor.is_in_step()


async def test_the_server_can_open_few_files(ground: Ground) -> None:
    command = limited(SERVER, NOFILE=16)
    async with editor_on(ground, command, options=PATIENT) as editor:
        assert await editor.is_in_step()
