"""Files of a running engine are removed: clients find it again, or another one."""

import shutil

from engine_watch import until
from faults.editor import BY_DIGEST, editor_on
from faults.fault_server import fault_server_command
from faults.ground import PATIENCE_S, Ground

SERVER = fault_server_command(rules=[BY_DIGEST])
PATIENT = {"deadlineMs": 60_000}


async def test_the_socket_is_removed(ground: Ground) -> None:
    """Connected editors notice nothing, and the engine makes the socket again for new ones."""
    async with editor_on(ground, SERVER, options=PATIENT) as connected:
        pid = (await ground.engine()).pid
        ground.address.socket_path.unlink()
        assert await connected.is_in_step()
        async with editor_on(ground, SERVER, options=PATIENT) as newer:
            assert await newer.is_in_step()
        assert (await ground.engine()).pid == pid


async def test_the_runtime_folder_is_removed(ground: Ground) -> None:
    """A new editor gets another engine; the old one, which cannot be found, ends by itself."""
    async with editor_on(ground, SERVER, options=PATIENT) as connected:
        pid = (await ground.engine()).pid
        shutil.rmtree(ground.address.directory)
        async with editor_on(ground, SERVER, options=PATIENT) as newer:
            assert await newer.is_in_step()
            newer_pid = (await ground.engine()).pid
            assert newer_pid != pid

            async def only_newer() -> bool:
                return [it.pid for it in ground.processes("rule_engine")] == [newer_pid]

            await until(only_newer, PATIENCE_S)
            assert await connected.is_in_step()
            assert await newer.is_in_step()
            assert (await ground.engine()).pid == newer_pid
