"""The client starts the process of the index, asks it, and survives its faults."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import engine_watch
import psutil
import pytest

from intarsia.infill.languages import language_for_id
from intarsia.workspace.context.chunk import Chunk, Place
from intarsia.workspace.files.paths import RootSettings
from intarsia.workspace.index.indexer import open_index
from intarsia.workspace.process.client import COMMAND, IndexClient
from intarsia.workspace.process.messages import ChooseChunks, Chosen, GetStatistics, Statistics

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
async def running(*roots, log=print, **options) -> AsyncIterator[IndexClient]:
    client = IndexClient(log, **options)
    try:
        client.open_roots([RootSettings(path=str(root)) for root in roots])
        yield client
    finally:
        await client.close()


async def statistics_of(client: IndexClient) -> Statistics | None:
    return await client.ask(GetStatistics(), Statistics, timeout_s=30)


async def chosen(client: IndexClient, place: Place, timeout_s: float) -> Sequence[Chunk] | None:
    answer = await client.ask(ChooseChunks.at(place), Chosen, timeout_s=timeout_s)
    return answer and answer.chunks


async def until(client: IndexClient, holds: Callable[[Statistics], bool]) -> Statistics:
    async with asyncio.timeout(60):
        while not (found := await statistics_of(client)) or not holds(found):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return found


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
        chunks = await chosen(client, place_in(root / "car.py", CAR), timeout_s=20)
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


CHANGES: dict[str, Callable[[Path], object]] = {
    "renamed to a secret": lambda root: (root / "motor.py").rename(root / ".env"),
    "its folder renamed": lambda root: (root / "lib").rename(root / "secrets"),
    "deleted": lambda root: (root / "motor.py").unlink(),
    "a link now": lambda root: relinked(root / "motor.py", root / "car.py"),
    "ignored": lambda root: (root / ".gitignore").write_text("motor.py\nlib/\n"),
    "excluded": lambda root: (root / ".intarsiaignore").write_text("motor.py\nlib/\n"),
    "ignored for oneself": lambda root: (root / ".git/info/exclude").write_text("lib/\nmotor.py\n"),
    "ignored around": lambda root: (root.parent / ".gitignore").write_text("workspace/lib/\n"),
    "written": lambda root: (root / "motor.py").write_text(ENGINE.replace("start_engine", "go")),
}


def relinked(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize("change", CHANGES)
async def test_what_was_chosen_is_not_shown_once_its_file_has_changed(root: Path, change: str):
    """Without an event of the editor, and while the hole needs nothing else."""
    is_inside = "folder" in change or "around" in change
    repository = root.parent if "around" in change else root
    (repository / ".git/info").mkdir(parents=True)
    (root / "lib").mkdir()
    name = "lib/motor.py" if is_inside else "motor.py"
    (root / "motor.py").rename(root / name)
    text = CAR.replace("from motor", "from lib.motor") if is_inside else CAR
    async with running(root) as client:
        await until(client, is_ready)
        place = place_in(root / "car.py", text)
        chunks = await chosen(client, place, timeout_s=20)
        assert chunks
        assert [it.path for it in chunks] == [name]
        assert not chunks[0].has_changed()
        CHANGES[change](root)
        assert chunks[0].has_changed()  # by which the server knows, too
        assert await chosen(client, place, timeout_s=20) == ()
        await until(client, is_ready)
        again = await chosen(client, place, timeout_s=20)
        assert again is not None
        shown = "\n".join(it.text for it in again)
        assert ("go(" in shown) if change == "written" else (again == ())


async def test_the_text_of_an_open_file_is_used_and_not_kept(root: Path):
    async with running(root) as client:
        await until(client, is_ready)
        path = str(root / "open.py")
        client.open_text(path, "def one(): pass\ndef two(): pass\n")
        before = await until(client, lambda it: it.num_files == 3)
        client.open_text(path, "def one(): pass\n")
        after = await until(client, lambda it: it.num_definitions == before.num_definitions - 1)
        assert after.num_files == 3
        client.open_text(path, None)
        await until(client, lambda it: it.num_files == 2)


async def test_three_processes_read_and_write_one_index(root: Path):
    """Two windows with what is typed in them, and a command beside them."""
    for name in ("one.py", "other.py"):
        (root / name).write_text("x = 1\n")
    async with running(root) as one, running(root) as other:
        for client in (one, other):
            known = await until(client, lambda it: it.num_files == 4 and is_ready(it))
            assert known.fault == ""
        one.open_text(str(root / "one.py"), "def typed_in_one(): pass\ndef a(): pass\n")
        other.open_text(str(root / "other.py"), "def typed_in_other(): pass\ndef b(): pass\n")
        num_typed = known.num_definitions + 2
        for client in (one, other):
            await until(client, lambda it: it.num_definitions == num_typed)
            chunks = await chosen(client, place_in(root / "car.py", CAR), timeout_s=20)
            assert chunks
            assert any("start_engine" in chunk.text for chunk in chunks)
        (root / "third.py").write_text("def third(): pass\n")
        with open_index(root) as command:
            assert command.update()
            assert all(
                command.index.definitions_named(name, limit=1) for name in ("third", "start_engine")
            )
            assert command.index.counts().faults == ()
        later = "".join(f"def f{number}(): pass\n" for number in range(20))
        one.open_text(str(root / "one.py"), later)
        await until(other, lambda it: it.num_definitions > 20)


async def test_many_files_are_indexed_once_by_two_windows_at_a_time(root: Path):
    for number in range(300):
        (root / f"f{number}.py").write_text(f"def f{number}(): return {number}\n")
    async with running(root) as one, running(root) as other:
        for client in (one, other):
            known = await until(client, lambda it: it.num_files == 302 and is_ready(it))
            assert (known.num_definitions, known.fault) == (303, "")


async def test_nothing_is_started_without_a_folder_and_nothing_fails():
    client = IndexClient(print)
    client.files_changed(["/a.py"])
    client.open_text("/a.py", "x = 1\n")
    client.open_roots([])
    await asyncio.sleep(0.1)
    assert not client.is_running
    assert await chosen(client, place_in(Path("/car.py"), CAR), timeout_s=1) is None
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


PYTHON = (sys.executable, "-P", "-c")
GARBAGE = "import sys, time; sys.stdout.write('x' * 100); sys.stdout.flush(); time.sleep(600)"


@pytest.mark.parametrize(
    ("command", "delays_s", "reason"),
    [
        (
            (*PYTHON, "raise SystemExit('it is broken')"),
            (0.0, 0.0),
            "the project's index is off, as its process failed again: it is broken",
        ),
        (("/no/python",), (), "cannot be started"),
        ((*PYTHON, GARBAGE), (), "it sent an invalid answer"),
    ],
)
async def test_a_process_that_fails_is_given_up_with_one_reason(root, command, delays_s, reason):
    said: list[str] = []
    async with running(root, log=said.append, command=command, delays_s=delays_s) as client:
        await engine_watch.until(lambda: bool(client.fault), 60)
        assert len(said) == 1 and reason in said[0]
        assert await chosen(client, place_in(root / "car.py", CAR), timeout_s=1) is None
        client.open_roots([RootSettings(path=str(root))])
        assert not client.is_running


async def test_a_process_that_hangs_is_noticed_and_ended(root: Path):
    said: list[str] = []
    command = (*PYTHON, "import time; time.sleep(600)")
    async with running(root, log=said.append, command=command, delays_s=(), hang_s=0.2) as client:
        await engine_watch.until(lambda: client.is_running, 60)
        place = place_in(root / "car.py", CAR)
        assert await chosen(client, place, timeout_s=0.3) is None
        assert await chosen(client, place, timeout_s=5) is None
        await engine_watch.until(lambda: bool(client.fault), 60)
        assert len(said) == 1


async def test_the_processes_have_a_low_priority(root: Path):
    async with running(root) as client:
        await until(client, is_ready)
        niceness = {process.pid: process.nice() for process in all_processes()}
        assert sorted(niceness.values()) == [10, 19]


async def test_an_answer_does_not_wait_for_the_index(root: Path):
    for number in range(1_500):
        (root / f"m{number}.py").write_text(f"def f_{number}(argument): return {number}\n" * 30)
    async with running(root) as client:
        await until(client, lambda it: it.num_queued > 100)
        chunks = await chosen(client, place_in(root / "car.py", CAR), timeout_s=30)
        assert chunks is not None
        statistics = await statistics_of(client)
        assert statistics.state != "ready"


def test_the_process_ends_on_what_is_no_message(tmp_path: Path):
    done = subprocess.run(COMMAND, input=b"\xff" * 100, capture_output=True, timeout=60)
    assert done.returncode == 0
    assert b"the index got no message" in done.stderr


def all_processes() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [it for it in children if "intarsia.workspace" in it.cmdline()]


def index_processes() -> list[psutil.Process]:
    return [it for it in all_processes() if "parse" not in it.cmdline()]
