"""Takes pictures of plugins of other projects in Neovim: writes llama-vim.png and minuet.png here.

``LLAMA_VIM`` and ``MINUET`` name the plugins' folders. What is drawn is what a terminal got from
the real editor, the plugin, our API and the model. Needs what ``record_nvim.py`` needs.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support" / "editors"))

from api_desk import api_of_real_engine
from foreign_plugins import GHOST_TEXT, LLAMA_VIM, MINUET, init_of
from neovim_terminal import neovim_terminal
from record_nvim import HERE, SOURCE, draw
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient

LOOK = "vim.o.number = true vim.o.signcolumn = 'no' vim.o.scrolloff = 3 vim.o.laststatus = 0\n"
LOOK += "vim.o.ruler = false vim.o.termguicolors = true\n"


def main() -> None:
    with temporary_address() as address:
        asyncio.run(_load_model(address))
        with api_of_real_engine(address) as desk:
            for init, name in ((LLAMA_VIM, "LLAMA_VIM"), (MINUET, "MINUET")):
                folder = address.directory / name
                folder.mkdir()
                _record(LOOK + init_of(init, Path(os.environ[name]), desk.listening.url), folder)
                picture = HERE / f"{name.lower().replace('_', '-')}.png"
                (folder / "picture.png").rename(picture)


def _record(init: str, folder: Path) -> None:
    """Open a line below a docstring, and wait for a suggestion."""
    file = folder / "statistics.py"
    file.write_text(SOURCE)
    (folder / "init.lua").write_text(init)
    with neovim_terminal(folder, file, folder / "init.lua", {}) as terminal:
        terminal.nvim.until("vim.v.vim_did_enter == 1")
        terminal.keys("11Go")
        terminal.until(lambda: bool(terminal.nvim.lua(f"{GHOST_TEXT} or false")))
        time.sleep(0.5)  # until it is drawn
        draw(terminal.cells(), terminal.cursor(), folder / "picture.png")


async def _load_model(address: Address) -> None:
    async with EngineClient(name="pictures", address=address) as client:
        await client.preload()


if __name__ == "__main__":
    main()
