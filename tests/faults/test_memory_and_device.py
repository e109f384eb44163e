"""Memory runs out, or the GPU is lost: the reason is told, and the next request is answered."""

import resource

import psutil
from engine_watch import until
from faults.editor import BY_DIGEST, editor_on
from faults.fault_server import fault_server_command
from faults.ground import PATIENCE_S, Ground
from faults.memory_group import memory_group

PATIENT = {"deadlineMs": 60_000}
RULES = [BY_DIGEST, ["memory =", "!memory"], ["device =", "!device"], ["pages =", "!pages"]]
SERVER = fault_server_command(rules=RULES)


async def test_memory_runs_out_in_a_fill(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        engine = psutil.Process((await ground.engine()).pid)
        limit = engine.memory_info().vms + (1 << 30)
        engine.rlimit(resource.RLIMIT_AS, (limit, limit))
        assert await editor.fill("memory = ") is None
        await editor.told("out of memory")
        assert await editor.is_in_step()
        assert engine.is_running()


async def test_the_memory_of_its_control_group_runs_out(ground: Ground) -> None:
    """The kernel kills the engine; another one answers the next request."""
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        engine = psutil.Process((await ground.engine()).pid)
        with memory_group(engine, engine.memory_info().rss + (1 << 27)):
            assert await editor.fill("pages = ") is None
            await editor.told("stopped before it answered")
            assert await editor.is_in_step()
            assert (await ground.engine()).pid != engine.pid


async def test_the_gpu_is_lost_in_a_fill(ground: Ground) -> None:
    """A process does not get its device back: another one loads the model again."""
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        pid = (await ground.engine()).pid
        assert await editor.fill("device = ") is None
        await editor.told("CUDA error")

        async def is_dropped() -> bool:
            return not psutil.pid_exists(pid) or pid not in [it.pid for it in ground.processes()]

        await until(is_dropped, PATIENCE_S)
        assert await editor.is_in_step()
        assert (await ground.engine()).pid != pid
