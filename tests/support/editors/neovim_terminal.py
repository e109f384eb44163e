"""A real Neovim on a pseudo-terminal: tests assert what the screen shows, and how."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pyte
from headless_nvim import Neovim, connect, find_nvim, nvim_environment, write_init
from terminal_editor import Terminal

ROWS, COLUMNS = 24, 90
# Colours that nothing else on the screen has.
TELLING_COLOURS = """
  vim.api.nvim_set_hl(0, "IntarsiaGhostText", { fg = "#808181" })
  vim.api.nvim_set_hl(0, "IntarsiaUnsure", { fg = "#606161" })
  vim.api.nvim_set_hl(0, "IntarsiaDraft", { fg = "#505151" })
"""
Cell: TypeAlias = pyte.screens.Char

# Questions and modes that pyte takes for text or for colours.
_UNKNOWN_TO_PYTE = re.compile(
    rb"\x1bP.*?\x1b\\|\x1b_.*?\x1b\\|\x1b\[[>=<][\d;]*[a-zA-Z]|\x1b\[\?[\d;]*\$p|\x1b\[[\d;]*:[\d:;]*m",
    re.DOTALL,
)


class NeovimTerminal(Terminal):
    """A running editor: keys go in as a terminal sends them, a screen comes out.

    ``nvim`` is the same editor asked from within.
    """

    def __init__(self, nvim: Neovim, terminal: int) -> None:
        super().__init__(terminal, pyte.Screen(COLUMNS, ROWS))
        self.nvim = nvim
        self._frames: list[str] = []

    def cells(self) -> list[list[Cell]]:
        """Return the screen's characters with their colours, row by row."""
        self._read(0)
        return [[self._screen.buffer[row][col] for col in range(COLUMNS)] for row in range(ROWS)]

    def cursor(self) -> tuple[int, int]:
        return self._screen.cursor.y, self._screen.cursor.x

    def in_colour_of(self, *groups: str) -> str:
        """Return the text that is shown in the colours of highlight groups, row by row."""
        colour_of = "return vim.api.nvim_get_hl(0, { name = ..., link = false }).fg"
        colours = {f"{self.nvim.run(colour_of, group):06x}" for group in groups}
        rows = ("".join(cell.data for cell in row if cell.fg in colours) for row in self.cells())
        return "\n".join(row for row in rows if row.strip()).rstrip()

    def ghost_text(self) -> str:
        """Wait for a whole suggestion; return it as it is shown."""
        self.until(lambda: bool(self.nvim.lua("require('intarsia').is_shown()")))
        self.until(lambda: self.suggested() != "")
        return self.suggested()

    def suggests(self, text: str) -> None:
        """Wait until exactly this is on the screen as a suggestion, a draft no longer."""
        is_answered = "require('intarsia').is_shown()"
        self.until(lambda: self.suggested() == text and bool(self.nvim.lua(is_answered)))

    def suggested(self) -> str:
        return self.in_colour_of("IntarsiaGhostText", "IntarsiaUnsure")

    def drain(self) -> None:
        """Take what the editor draws, so that it is never kept waiting."""
        self._read(0)

    def has_shown(self, text: str) -> bool:
        return any(text in frame for frame in self._frames)

    def _feed(self, drawn: bytes) -> None:
        super()._feed(_UNKNOWN_TO_PYTE.sub(b"", drawn))
        self._frames.append("\n".join(self._screen.display))


@contextmanager
def neovim_terminal(
    folder: Path,
    file: Path,
    options: Mapping[str, object] | Path,
    environment: Mapping[str, str],
    *,
    before: str = TELLING_COLOURS,
) -> Iterator[NeovimTerminal]:
    """Run Neovim with our plugin and nothing of the user's, on this file; killed at the end.

    ``options`` are the plugin's, or a whole init.lua.
    """
    folder.mkdir(exist_ok=True)
    address = folder / "nvim.sock"
    plain = "vim.o.laststatus = 0 vim.o.ruler = false vim.o.termguicolors = true\n"
    init = options if isinstance(options, Path) else write_init(folder, options, plain + before)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [find_nvim(), "--clean", "-u", init, "-n", "--listen", address, file],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**nvim_environment(folder, environment), "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        nvim = connect(address, lambda: process.poll() is None)
        try:
            yield NeovimTerminal(nvim, ours)
        finally:
            nvim.close()
    finally:
        process.kill()
        process.wait(20)
        os.close(ours)
