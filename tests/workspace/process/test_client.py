"""The client starts the process of the index, asks it, and survives its faults."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from intarsia.infill.languages import language_for_id
from intarsia.workspace.context.place import Place
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.process.client import COMMAND, IndexClient
from intarsia.workspace.process.messages import Statistics

ENGINE = """
class Motor:
    def start_engine(self, fuel: float) -> bool:
        return fuel > 0
"""
CAR = "from motor import Motor\n\n\ndef drive(motor: Motor):\n    motor.\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("INTARSIA_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "motor.py").write_text(ENGINE)
    (folder / "car.py").write_text(CAR)
    return folder


@asynccontextmanager
async def running(
    *roots: Path, log: Callable[[str], None] = print, **options: object
) -> AsyncIterator[IndexClient]:
    client = IndexClient(log, **options)  # type: ignore[arg-type]
    try:
        client.open_roots([RootSettings(path=str(root)) for root in roots])
        yield client
    finally:
        await client.close()


async def until(
    client: IndexClient, holds: Callable[[Statistics], bool], *, timeout_s: float = 60
) -> Statistics:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        statistics = await client.statistics(timeout_s=20)
        if statistics is not None and holds(statistics):
            return statistics
        await asyncio.sleep(0.05)
    raise AssertionError("it did not come to this in time")


def is_ready(statistics: Statistics) -> bool:
    return statistics.state == "ready"


def place_in(path: Path, text: str) -> Place:
    return Place(
        path=path.as_posix(),
        text=text,
        language=language_for_id("python"),
        offset=text.index("motor.\n") + len("motor."),
        window_start=0,
        window_end=len(text),
    )


async def test_it_chooses_code_of_another_file(root: Path):
    async with running(root) as client:
        known = await until(client, is_ready)
        assert (known.num_files, known.num_left_out, known.fault) == (2, 0, "")
        chunks = await client.choose(place_in(root / "car.py", CAR), timeout_s=20)
        assert chunks
        assert any("start_engine" in chunk.text for chunk in chunks)
        assert {chunk.path for chunk in chunks} == {"motor.py"}


async def test_files_that_change_are_followed_by_events(root: Path):
    async with running(root) as client:
        await until(client, is_ready)
        (root / "new.py").write_text("def fresh(): pass\n")
        client.files_changed([str(root / "new.py")])
        await until(client, lambda it: it.num_files == 3)
        (root / "new.py").unlink()
        client.files_changed([str(root / "new.py")])
        await until(client, lambda it: it.num_files == 2)


async def test_the_text_of_an_open_file_is_used_and_not_kept(root: Path):
    async with running(root) as client:
        await until(client, is_ready)
        path = str(root / "open.py")
        client.open_text(path, "def one(): pass\ndef two(): pass\n")
        before = await until(client, lambda it: it.num_files == 3)
        client.open_text(path, "def one(): pass\n\udcff")
        after = await until(client, lambda it: it.num_definitions == before.num_definitions - 1)
        assert after.num_files == 3
        client.open_text(path, None)
        await until(client, lambda it: it.num_files == 2)


async def test_nothing_is_started_without_a_folder_and_nothing_fails():
    client = IndexClient(print)
    client.files_changed(["/a.py"])
    client.open_text("/a.py", "x = 1\n")
    client.open_roots([])
    await asyncio.sleep(0.1)
    assert not client.is_running
    assert await client.choose(place_in(Path("/car.py"), CAR), timeout_s=1) is None
    await client.close()


async def test_a_process_that_is_killed_comes_back_and_knows_the_same(root: Path):
    said: list[str] = []
    async with running(root, log=said.append, delays_s=(0.0, 0.0)) as client:
        client.open_text(str(root / "open.py"), "def unsaved(): pass\n")
        await until(client, lambda it: it.num_files == 3)
        (child,) = index_processes()
        child.kill()
        child.wait(20)
        await until(client, lambda it: it.num_files == 3)
        assert said == []


async def test_a_process_that_fails_again_and_again_is_given_up_with_one_reason(root: Path):
    said: list[str] = []
    command = (sys.executable, "-P", "-c", "raise SystemExit('it is broken')")
    async with running(root, log=said.append, command=command, delays_s=(0.0, 0.0)) as client:
        for _ in range(600):
            await asyncio.sleep(0.05)
            if client.fault:
                break
        assert said == ["the project's index is off, its process failed again: it is broken"]
        assert await client.choose(place_in(root / "car.py", CAR), timeout_s=1) is None
        client.open_roots([RootSettings(path=str(root))])
        assert not client.is_running


async def test_a_program_that_is_missing_is_named(root: Path):
    said: list[str] = []
    async with running(root, log=said.append, command=("/no/python",), delays_s=()) as client:
        for _ in range(200):
            await asyncio.sleep(0.02)
            if client.fault:
                break
        assert "cannot be started" in said[0]


async def test_garbage_ends_the_process(root: Path):
    said: list[str] = []
    code = "import sys, time; sys.stdout.write('x' * 100); sys.stdout.flush(); time.sleep(600)"
    command = (sys.executable, "-P", "-c", code)
    async with running(root, log=said.append, command=command, delays_s=()) as client:
        for _ in range(600):
            await asyncio.sleep(0.05)
            if client.fault:
                break
        assert "it wrote what is no answer" in said[0]


async def test_a_process_that_hangs_is_noticed_and_ended(root: Path):
    said: list[str] = []
    command = (sys.executable, "-P", "-c", "import time; time.sleep(600)")
    async with running(root, log=said.append, command=command, delays_s=(), hang_s=0.2) as client:
        for _ in range(200):
            if client.is_running:
                break
            await asyncio.sleep(0.05)
        place = place_in(root / "car.py", CAR)
        assert await client.choose(place, timeout_s=0.3) is None
        assert await client.choose(place, timeout_s=5) is None
        for _ in range(200):
            if client.fault:
                break
            await asyncio.sleep(0.05)
        assert len(said) == 1


async def test_closing_ends_all_processes(root: Path):
    async with running(root) as client:
        await until(client, is_ready)
        started = index_processes()
        assert started
    _, alive = psutil.wait_procs(started, timeout=20)
    assert not alive
    assert index_processes() == []


async def test_the_processes_have_a_low_priority(root: Path):
    async with running(root) as client:
        await until(client, is_ready)
        niceness = {process.pid: process.nice() for process in all_processes()}
        assert sorted(niceness.values()) == [10, 19]


async def test_nothing_is_written_into_the_workspace(root: Path, cache: Path):
    before = entries(root)
    async with running(root) as client:
        await until(client, is_ready)
    assert entries(root) == before
    assert [path.suffix for path in entries(cache / "index")] == [".sqlite"]


async def test_an_answer_does_not_wait_for_the_index(root: Path):
    for number in range(1_500):
        (root / f"m{number}.py").write_text(f"def f_{number}(argument): return {number}\n" * 30)
    async with running(root) as client:
        await until(client, lambda it: it.num_queued > 100)
        chunks = await client.choose(place_in(root / "car.py", CAR), timeout_s=30)
        assert chunks is not None
        statistics = await client.statistics(timeout_s=30)
        assert statistics is not None
        assert statistics.state != "ready"


def test_the_client_loads_neither_parser_nor_database():
    code = (
        "import sys, intarsia.workspace.process.client;"
        "print({'sqlite3', 'tree_sitter', 'pathspec', 'psutil'} & set(sys.modules) or 'none')"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "none"


def test_the_process_ends_on_what_is_no_message(tmp_path: Path):
    done = subprocess.run(COMMAND, input=b"\xff" * 100, capture_output=True, timeout=60)
    assert done.returncode == 0
    assert b"the index got no message" in done.stderr


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def all_processes() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [it for it in children if "intarsia.workspace" in it.cmdline()]


def index_processes() -> list[psutil.Process]:
    return [it for it in all_processes() if "parse" not in it.cmdline()]
