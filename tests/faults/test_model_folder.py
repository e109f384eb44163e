"""The folder of a loaded model is replaced or removed: fills go on, or the reason is told.

The model is a tiny real one, whose texts are random: that a fill is answered is what counts.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from faults.editor import Editor, editor_on
from faults.ground import Ground
from toy_causal import save_toy, toy_causal_model


def replace_files(folder: Path) -> None:
    """Write over each file in place, as some tools that copy do."""
    for path in folder.iterdir():
        path.write_bytes(b"{}")


async def is_answered_by_model(editor: Editor) -> bool:
    """Ask, and tell whether the engine has filled, whatever the text is worth."""
    num_before = editor.log().count("filled in")
    await editor.fill("value = ")
    return editor.log().count("filled in") > num_before


@pytest.mark.parametrize("break_folder", [shutil.rmtree, replace_files])
async def test_while_its_model_is_loaded(
    ground: Ground, tmp_path: Path, break_folder: Callable[[Path], None]
) -> None:
    folder = save_toy(tmp_path / "toy", toy_causal_model("qwen2"))
    options = {"model": str(folder), "deadlineMs": 60_000}
    async with editor_on(ground, options=options) as editor:
        await ground.engine()
        assert await is_answered_by_model(editor)
        break_folder(folder)
        for _ in range(2):
            await editor.fill("value = ")
        reason = (editor.status()["last"] or {}).get("reason") or ""
        is_told = str(folder) in reason or "the engine" in reason
        assert is_told or await is_answered_by_model(editor)
