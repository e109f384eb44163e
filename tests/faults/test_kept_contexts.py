"""The contexts that the engine keeps on disk are damaged, or their disk is full: it reads again."""

from pathlib import Path

import pytest
from faults.editor import editor_on
from faults.ground import Ground
from faults.limits import limited
from faults.plain_server import PLAIN_SERVER
from faults.toy_engine import model_options, serve, written

from intarsia.engine.ipc.stop import stop_engine

CODE = "def area(width, height):\n    return width * height\n\n\n" * 8
"""More tokens than a context needs to be kept."""
DAMAGES = {"emptied": b"", "overwritten": b"no tensors " * 1_000}


def kept(ground: Ground) -> list[Path]:
    """Return the files of kept contexts."""
    return [path for path in ground.cache.glob("contexts/*/*") if path.is_file()]


async def keep_contexts(
    ground: Ground, model: Path, command: tuple[str, ...] = PLAIN_SERVER
) -> str:
    """Have an engine read a file and end, as it does when it keeps contexts; return its text."""
    async with editor_on(ground, command, options=model_options(model)) as editor:
        editor.write(CODE)
        await serve(editor)
        text = await written(ground, model)
        await stop_engine(ground.address, name="test")
    return text


@pytest.mark.parametrize("damage", DAMAGES)
async def test_they_are_damaged(ground: Ground, model: Path, damage: str) -> None:
    text = await keep_contexts(ground, model)
    damaged = kept(ground)
    assert damaged
    for path in damaged:
        path.write_bytes(DAMAGES[damage])
    assert await keep_contexts(ground, model) == text
    records = [path for path in kept(ground) if path.name.startswith("context-")]
    newest = max(records, key=lambda path: path.stat().st_mtime_ns)
    # On a busy machine the second engine may choose another format, which has its own folder.
    mine = [path for path in records if path.parent == newest.parent]
    assert not any(path.read_bytes() == DAMAGES[damage] for path in mine)


async def test_their_disk_is_full(ground: Ground, model: Path) -> None:
    """No file may grow beyond a block's size: contexts are not kept, and fills go on."""
    await keep_contexts(ground, model, limited(PLAIN_SERVER, FSIZE=10_000))
    assert kept(ground) == []
    assert list(ground.cache.glob("contexts/*/.unfinished*")) == []
    assert "cannot be written" in ground.log()
