"""The model's folder is replaced or damaged while it is loaded: fills go on, or tell why not."""

import shutil
from pathlib import Path

from faults.editor import editor_on
from faults.ground import Ground
from faults.plain_server import PLAIN_SERVER
from faults.toy_engine import model_options, serve, written

from intarsia.engine.ipc.launch import stop_engine


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
