"""Draws docs/img/fill.svg: three holes of the demo, filled now by the engine that runs.

Run as `.venv/bin/python docs/img/record_fill.py` in the repository, on an otherwise idle machine.
"""

import asyncio
import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from intarsia.cli.demo import read_samples
from intarsia.cli.fill.show import show_filling
from intarsia.cli.fill.where import cursor_at
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.fill_places import fill_in_order
from intarsia.infill.filling.plan import FillContext, FillOptions

SHOWN = ("temperatures.py", "cart.ts", "shape.rs")
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""A picture has no business on the network: the reader's own fixed-width font will do."""

TARGET = Path(__file__).with_name("fill.svg")


async def record(console: Console) -> None:
    samples = [sample for sample in read_samples() if sample.file in SHOWN]
    async with EngineClient(name="picture") as client:
        await client.preload()
        for sample in samples:
            places = [cursor_at(sample.text, sample.at)]
            context = FillContext(ask=client.fill, language=sample.language, options=FillOptions())
            async for filling in fill_in_order(context, sample.text, places):
                show_filling(console, sample.file, sample.text, filling, sample.language)
                console.print()


def main() -> None:
    console = Console(
        record=True, force_terminal=True, width=96, file=io.StringIO(), highlight=False
    )
    asyncio.run(record(console))
    svg = console.export_svg(title="intarsia demo", theme=MONOKAI, unique_id="fill")
    TARGET.write_text(_FONT_FACE.sub("", svg), encoding="utf-8")


if __name__ == "__main__":
    main()
