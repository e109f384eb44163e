"""Too many open files: clients that are connected go on, and others get an answer."""

import resource

import psutil
from engine_watch import until
from faults.editor import BY_DIGEST, DIGEST, editor_on
from faults.fault_server import fault_server_command
from faults.ground import PATIENCE_S, Ground
from faults.limits import limited

PATIENT = {"deadlineMs": 60_000}
SERVER = fault_server_command(rules=[BY_DIGEST])


async def test_the_engine_can_open_no_more_files(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        engine = psutil.Process((await ground.engine()).pid)
        assert await editor.is_in_step()
        before = engine.rlimit(resource.RLIMIT_NOFILE)
        engine.rlimit(resource.RLIMIT_NOFILE, (engine.num_fds(), before[1]))
        assert await editor.is_in_step()
        async with editor_on(ground, SERVER, options=PATIENT) as newer:
            await newer.fill(DIGEST)  # it is answered, with a text or a reason
            engine.rlimit(resource.RLIMIT_NOFILE, before)
            await until(newer.is_in_step, PATIENCE_S)
        assert await editor.is_in_step()


async def test_the_server_can_open_few_files(ground: Ground) -> None:
    command = limited(SERVER, NOFILE=16)
    async with editor_on(ground, command, options=PATIENT) as editor:
        assert await editor.is_in_step()
