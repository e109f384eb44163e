"""Homes that cannot be used as usual: read-only, full, or on a network."""

import pytest
from faults.editor import BY_DIGEST, editor_on
from faults.fault_server import fault_server_command
from faults.ground import Ground
from faults.limits import limited
from faults.patched import NO_FLOCK, NO_UNIX_SOCKETS, patched
from lsprotocol import types

PATIENT = {"deadlineMs": 60_000}
SERVER = fault_server_command(rules=[BY_DIGEST])
NOWHERE = "/proc/nowhere"
"""No folder can be made there, not even by root."""


def folders(ground: Ground) -> list[types.WorkspaceFolder]:
    (ground.project / "b.py").write_text("def b(): pass\n" * 100)
    return [types.WorkspaceFolder(ground.project.as_uri(), "project")]


async def test_nothing_can_be_written_at_home(ground: Ground) -> None:
    home = {
        "HOME": NOWHERE,
        "XDG_CACHE_HOME": f"{NOWHERE}/cache",
        "XDG_STATE_HOME": f"{NOWHERE}/state",
        "INTARSIA_CACHE_DIR": f"{NOWHERE}/cache",
        "INTARSIA_DATA_DIR": f"{NOWHERE}/data",
        "INTARSIA_LOG_DIR": f"{NOWHERE}/log",
    }
    async with editor_on(
        ground, SERVER, options=PATIENT, environment=home, folders=folders(ground)
    ) as editor:
        assert await editor.is_in_step()


@pytest.mark.parametrize("max_bytes", [0, 1_000, 30_000])
async def test_the_disk_of_cache_index_and_log_is_full(ground: Ground, max_bytes: int) -> None:
    """No file may grow beyond this: the rest of a write fails, as on a full disk."""
    command = limited(SERVER, FSIZE=max_bytes)
    async with editor_on(ground, command, options=PATIENT, folders=folders(ground)) as editor:
        if max_bytes:
            assert await editor.is_in_step()
        else:
            assert await editor.fill("x = ") is None
            await editor.told("the engine")
            assert await editor.fill("y = ") is None


async def test_the_home_s_file_system_has_no_locks(ground: Ground) -> None:
    environment = patched(ground.folder / "locks", NO_FLOCK)
    async with editor_on(ground, SERVER, options=PATIENT, environment=environment) as editor:
        assert await editor.fill("x = ") is None
        await editor.told("INTARSIA_RUNTIME_DIR")
        assert await editor.fill("y = ") is None


async def test_the_home_s_file_system_has_no_sockets(ground: Ground) -> None:
    environment = patched(ground.folder / "sockets", NO_UNIX_SOCKETS)
    async with editor_on(ground, SERVER, options=PATIENT, environment=environment) as editor:
        assert await editor.fill("x = ") is None
        await editor.told("INTARSIA_RUNTIME_DIR")
    environment["INTARSIA_TRANSPORT"] = "tcp"
    async with editor_on(ground, SERVER, options=PATIENT, environment=environment) as editor:
        assert await editor.is_in_step()
