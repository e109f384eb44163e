"""The product's engine with a small model of random numbers, for faults in a model's files."""

from pathlib import Path

import msgspec
from engine_watch import until
from faults.editor import Editor
from faults.ground import PATIENCE_S, Ground
from toy_causal import save_toy, toy_causal_model

from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill

HOLE = Fill(id=0, prefix="def total(items):\n    return ", suffix="\n", stop=("\n",))


def save_models(folder: Path) -> Path:
    """Write two models of their own numbers, one and two, into a folder."""
    for seed, name in enumerate(("one", "two")):
        save_toy(folder / name, toy_causal_model("qwen2", seed=seed))
    return folder


def model_options(model: Path) -> dict[str, object]:
    return {"deadlineMs": 60_000, "model": str(model)}


async def written(ground: Ground, model: Path) -> str:
    async with EngineClient(name="test", start=False, address=ground.address) as client:
        return (await client.fill(msgspec.structs.replace(HOLE, model=str(model)))).text


async def serve(editor: Editor) -> None:
    """Ask, and wait for the status without a fault: random numbers rarely write what is shown."""
    await editor.fill("total = ")

    async def is_told() -> bool:
        status = editor.status()
        return status["state"] == "ready" and status["last"] and not status["last"]["failed"]

    await until(is_told, PATIENCE_S)
