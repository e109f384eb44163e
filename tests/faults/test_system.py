"""What the system takes away: files, folders, disk, locks, memory, open files, device, time."""

import contextlib
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from engine_watch import until
from faults.editor import BY_DIGEST, DIGEST, editor_on
from faults.fault_server import fault_server_command
from faults.ground import PATIENCE_S, Ground
from faults.limits import limited
from lsprotocol import types

JUMPING_CLOCK = """
import time
from pathlib import Path

_real, _jump = time.time, Path({folder!r}) / "jump"
time.time = lambda: _real() + float(_jump.read_text())
"""

NO_FLOCK = """
import errno, fcntl

def _flock(*_):
    raise OSError(errno.ENOLCK, "No locks available")

fcntl.flock = _flock
"""

NO_UNIX_SOCKETS = """
import errno, socket

class _Socket(socket.socket):
    def bind(self, address):
        if self.family == socket.AF_UNIX:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        super().bind(address)

socket.socket = _Socket
"""


def patched(folder: Path, source: str) -> dict[str, str]:
    """Return the variables by which Python processes run this source at their start."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(source.replace("{folder!r}", repr(str(folder))))
    return {"PYTHONPATH": str(folder)}


ROOT = Path("/sys/fs/cgroup")
LIMITS = {
    "cgroup.controllers": "memory.max",
    "memory/memory.limit_in_bytes": "memory.limit_in_bytes",
}
"""A file that tells the version of control groups, and the group's file with its limit."""
SWAP_LIMITS = ("memory.swap.max", "memory.memsw.limit_in_bytes")


@contextlib.contextmanager
def memory_group(process: psutil.Process, max_bytes: int) -> Iterator[None]:
    """Limit what a process has in memory; skip the test where that is not possible."""
    version = next((name for name in LIMITS if (ROOT / name).exists()), None)
    if version is None:
        pytest.skip("this system has no control groups for memory")
    try:
        group = Path(tempfile.mkdtemp(prefix="intarsia-", dir=(ROOT / version).parent))
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        try:
            (group / LIMITS[version]).write_text(str(max_bytes))
            _limit_swap(group, max_bytes)
            (group / "cgroup.procs").write_text(str(process.pid))
        except OSError as error:
            pytest.skip(f"memory cannot be limited by a control group: {error}")
        yield
    finally:
        _empty(group)
        group.rmdir()


def _limit_swap(group: Path, max_bytes: int) -> None:
    """Keep the process from going on in swapped memory, where the kernel limits that."""
    for name in SWAP_LIMITS:
        if (group / name).exists():
            (group / name).write_text("0" if name.endswith("max") else str(max_bytes))


def _empty(group: Path) -> None:
    """Move what still runs in the group out of it, as a group with processes stays."""
    for pid in (group / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):
            os.kill(int(pid), 0)
            (group.parent / "cgroup.procs").write_text(pid)


DAY_S = 86_400.0
SERVER = fault_server_command(rules=[BY_DIGEST])


async def test_the_clock_jumps_forward_and_back(ground: Ground) -> None:
    jump = ground.folder / "clock" / "jump"
    environment = patched(ground.folder / "clock", JUMPING_CLOCK)
    jump.write_text("0")
    options = {"deadlineMs": 60_000}
    async with editor_on(ground, SERVER, options=options, environment=environment) as editor:
        assert await editor.is_in_step()
        pid = (await ground.engine()).pid
        for days in (400, -3_000, 0):
            jump.write_text(str(days * DAY_S))
            assert await editor.is_in_step()
        assert (await ground.engine()).pid == pid
        await editor.is_well()


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
            await until(
                lambda: [it.pid for it in ground.processes("rule_engine")] == [newer_pid],
                PATIENCE_S,
            )
            assert await connected.is_in_step()
            assert await newer.is_in_step()
            assert (await ground.engine()).pid == newer_pid


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


RULES = [BY_DIGEST, ["memory =", "!memory"], ["device =", "!device"], ["pages =", "!pages"]]
BREAKING_SERVER = fault_server_command(rules=RULES)


async def test_memory_runs_out_in_a_fill(ground: Ground) -> None:
    async with editor_on(ground, BREAKING_SERVER, options=PATIENT) as editor:
        engine = psutil.Process((await ground.engine()).pid)
        limit = engine.memory_info().vms + (1 << 30)
        engine.rlimit(resource.RLIMIT_AS, (limit, limit))
        assert await editor.fill("memory = ") is None
        await editor.told("out of memory")
        assert await editor.is_in_step()
        assert engine.is_running()


async def test_the_memory_of_its_control_group_runs_out(ground: Ground) -> None:
    """The kernel kills the engine; another one answers the next request."""
    async with editor_on(ground, BREAKING_SERVER, options=PATIENT) as editor:
        engine = psutil.Process((await ground.engine()).pid)
        with memory_group(engine, engine.memory_info().rss + (1 << 27)):
            assert await editor.fill("pages = ") is None
            await editor.told("stopped before it answered")
            assert await editor.is_in_step()
            assert (await ground.engine()).pid != engine.pid


async def test_the_gpu_is_lost_in_a_fill(ground: Ground) -> None:
    """A process does not get its device back: another one loads the model again."""
    async with editor_on(ground, BREAKING_SERVER, options=PATIENT) as editor:
        pid = (await ground.engine()).pid
        assert await editor.fill("device = ") is None
        await editor.told("CUDA error")
        await until(lambda: pid not in [it.pid for it in ground.processes()], PATIENCE_S)
        assert await editor.is_in_step()
        assert (await ground.engine()).pid != pid
