"""Editor and engine are of different builds: an upgrade, a downgrade, two installations."""

import asyncio
import shutil
from pathlib import Path

import pytest
from engine_watch import until
from faults.editor import BY_DIGEST, editor_on
from faults.fault_server import fault_server_command
from faults.ground import PATIENCE_S, Ground
from faults.plain_server import PLAIN_SERVER
from faults.skewed_engine import skewed_engine_command
from faults.toy_engine import model_options, serve, written

from intarsia.engine.ipc.launch import start_detached, stop_engine
from intarsia.engine.ipc.messages import PROTOCOL_VERSION

SERVER = fault_server_command(rules=[BY_DIGEST])
PATIENT = {"deadlineMs": 60_000, "preload": False}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """The installed sources of the other build."""
    path = tmp_path / "sources"
    path.write_text("00000000")
    return path


def upgrade(sources: Path) -> None:
    """Install another build over the one that runs."""
    sources.write_text("11111111")


async def start(ground: Ground, command: tuple[str, ...]) -> int:
    """Start this engine; return its process's id once it takes clients."""
    start_detached(command, ground.address)
    await until(ground.address.socket_path.exists, PATIENCE_S)
    return int(ground.address.pid_path.read_text())


@pytest.mark.parametrize("protocol", [-1, 1])
async def test_the_engine_speaks_another_protocol(ground, sources, protocol):
    await start(ground, skewed_engine_command(sources, protocol=protocol))
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        assert await editor.fill("x = ") is None
        await editor.told(f"speaks protocol {PROTOCOL_VERSION + protocol}")
        await editor.told("run `intarsia stop`")
        await stop_engine(ground.address, name="test")
        await until(editor.is_in_step, PATIENCE_S)


async def test_an_older_engine_of_another_protocol_makes_room(ground, sources):
    old = skewed_engine_command(sources, protocol=-1, version="0.0.9")
    pid = await start(ground, old)
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        assert await editor.fill("x = ") is None
        await until(editor.is_in_step, PATIENCE_S)
        assert (await ground.engine()).pid != pid


async def test_an_upgrade_replaces_an_engine_that_runs_and_cuts_off_no_fill(ground, sources):
    old = skewed_engine_command(sources, rules=[BY_DIGEST], text="one + two", step_seconds=1)
    pid = await start(ground, old)
    async with editor_on(ground, SERVER, options=PATIENT) as busy:
        asking = asyncio.create_task(busy.fill("long = "))
        await ground.engine("filling")
        upgrade(sources)
        async with editor_on(ground, SERVER, options=PATIENT) as newer:
            await newer.is_in_step()  # this one says hello, and is still served
            assert await asking == "one + two"
            await until(
                lambda: pid not in [it.pid for it in ground.processes("engine")], PATIENCE_S
            )
            assert await busy.is_in_step()
            assert await newer.is_in_step()
            assert (await ground.engine()).pid != pid


async def test_a_client_of_a_later_version_replaces_an_idle_engine(ground, sources):
    pid = await start(ground, skewed_engine_command(sources, version="0.0.9", rules=[BY_DIGEST]))
    async with editor_on(ground, SERVER, options=PATIENT) as editor:
        assert await editor.is_in_step()
        await until(lambda: not ground.processes("engine"), PATIENCE_S)
        assert await editor.is_in_step()
        assert (await ground.engine()).pid != pid


async def test_it_is_replaced_by_another_model(ground, model, toy_models):
    """What is loaded stays as it is; an engine that starts later loads the new one."""
    async with editor_on(ground, PLAIN_SERVER, options=model_options(model)) as editor:
        await serve(editor)
        before, pid = await written(ground, model), (await ground.engine()).pid
        shutil.move(model, ground.folder / "old")
        shutil.copytree(toy_models / "two", model)
        await serve(editor)
        assert await written(ground, model) == before
        assert (await ground.engine()).pid == pid
        await stop_engine(ground.address, name="test")
        await serve(editor)
        assert await written(ground, model) != before


async def test_it_is_removed(ground: Ground, model: Path) -> None:
    """The loaded model fills on; without it the reason is told, until the folder is back."""
    async with editor_on(ground, PLAIN_SERVER, options=model_options(model)) as editor:
        await serve(editor)
        before = await written(ground, model)
        shutil.move(model, ground.folder / "old")
        assert await written(ground, model) == before
        await stop_engine(ground.address, name="test")
        assert await editor.fill("total = ") is None
        await editor.told(str(model))
        shutil.move(ground.folder / "old", model)
        await stop_engine(ground.address, name="test")
        await serve(editor)
        assert await written(ground, model) == before


async def test_its_weights_are_cut_off_in_place(ground: Ground, model: Path) -> None:
    """Whether the engine has its own copy or maps the file, it is well once the file is whole."""
    async with editor_on(ground, PLAIN_SERVER, options=model_options(model)) as editor:
        await serve(editor)
        before = await written(ground, model)
        weights = model / "model.safetensors"
        whole = weights.read_bytes()
        weights.write_bytes(whole[: len(whole) // 2])
        for _ in range(2):
            await editor.fill("total = ")  # it is answered, with a text or a reason
        weights.write_bytes(whole)
        await stop_engine(ground.address, name="test")
        await serve(editor)
        assert await written(ground, model) == before
