"""Takes the pictures of Neovim: ``python docs/img/record_nvim.py`` writes nvim-*.png here.

What is drawn is what a terminal got from the real editor, server and model. Needs pyte, Pillow and
the font DejaVu Sans Mono (Debian: fonts-dejavu-core).
"""

import asyncio
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support" / "editors"))

from headless_nvim import ATTACHED
from neovim_terminal import Cell, NeovimTerminal, neovim_terminal
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient

HERE = Path(__file__).parent
SERVER = [str(Path(sys.executable).with_name("intarsia")), "serve"]
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono{}.ttf"
FONT_SIZE = 22
CELL = (13, 28)  # of that size
FOREGROUND, BACKGROUND = "e0e2ea", "14161b"  # of Neovim's own colour scheme
NAMED = {"black": "07080d", "white": "eef1f8"}
SOURCE = '''from collections.abc import Iterable


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean of the values."""
    numbers = list(values)
    return sum(numbers) / len(numbers)


def variance(values: Iterable[float]) -> float:
    """Return the mean of the squared distances from the mean."""


def index_of(items: list[str], wanted: str) -> int:
    """Return the position of wanted in items, or -1 when it is not there."""


print(variance([1, 2, 3]), index_of(["a", "b"], "b"))
'''
LINES_SHOWN = 20


def main() -> None:
    with temporary_address() as address:
        asyncio.run(_load_model(address))
        file = address.directory / "statistics.py"
        file.write_text(SOURCE)
        options = {"cmd": SERVER, "settings": {"deadlineMs": 60_000}}
        environment = address.as_environment()
        before = "vim.o.number = true vim.o.signcolumn = 'no' vim.o.scrolloff = 3\n"
        with neovim_terminal(
            address.directory / "nvim", file, options, environment, before=before
        ) as terminal:
            terminal.nvim.until(ATTACHED)
            _record(terminal)


def _record(terminal: NeovimTerminal) -> None:
    """Write a draft below a docstring, and the suggestion that it becomes."""
    drafts: list[list[list[Cell]]] = []

    def is_answered() -> bool:
        cells = terminal.cells()
        if any(cell.data == "·" for row in cells for cell in row):
            drafts.append(cells)
        return bool(terminal.nvim.lua("require('intarsia').is_shown()"))

    terminal.keys("11Go")
    terminal.until(is_answered, seconds=120)
    terminal.ghost_text()
    draw(terminal.cells(), terminal.cursor(), HERE / "nvim-ghost-text.png")
    draw(drafts[2 * len(drafts) // 3], terminal.cursor(), HERE / "nvim-draft.png")


async def _load_model(address: Address) -> None:
    async with EngineClient(name="pictures", address=address) as client:
        await client.preload()


def draw(cells: list[list[Cell]], cursor: tuple[int, int], to: Path) -> None:
    """Write the first lines of a screen as a picture."""
    rows = cells[:LINES_SHOWN]
    width, height = CELL
    image = Image.new("RGB", (width * len(rows[0]), height * len(rows)), f"#{BACKGROUND}")
    pen = ImageDraw.Draw(image)
    for row, line in enumerate(rows):
        for col, cell in enumerate(line):
            ink, paper = _colour(cell.fg, FOREGROUND), _colour(cell.bg, BACKGROUND)
            if cell.reverse:
                ink, paper = paper, ink
            left, top = col * width, row * height
            pen.rectangle((left, top, left + width - 1, top + height - 1), fill=f"#{paper}")
            if cell.data.strip():
                pen.text((left, top + 1), cell.data, font=_font(cell), fill=f"#{ink}")
    top, left = cursor[0] * height, cursor[1] * width
    pen.rectangle((left, top, left + 2, top + height - 1), fill=f"#{FOREGROUND}")
    image.save(to, optimize=True)


def _colour(name: str, default: str) -> str:
    return default if name == "default" else NAMED.get(name, name)


def _font(cell: Cell) -> ImageFont.FreeTypeFont:
    face = "-Bold" if cell.bold else ""
    return ImageFont.truetype(FONT.format(face), FONT_SIZE)


if __name__ == "__main__":
    main()
