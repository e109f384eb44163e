"""Measures the Neovim plugin: ``python research/editors/bench_neovim.py keys|start|typing``.

keys: from a key to its ghost text, less the engine's own time. start: Neovim with and without the
plugin. typing: minutes of scripted typing on a terminal, checked key by key against a model of the
text. Each prints one line of JSON. The engine is one of its own, with the default model.
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from headless_nvim import (
    ATTACHED,
    Neovim,
    find_nvim,
    headless_nvim,
    nvim_environment,
    write_init,
)
from neovim_terminal import neovim_terminal
from temporary_address import temporary_address
from typing_run import TypingRun

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient

SERVER = [str(Path(sys.executable).with_name("intarsia")), "serve"]
FUNCTION = 'def add{0}(left{0}, right{0}):\n    """Return the sum of both."""\n    return'
PATIENT = {"debounceMs": 0, "deadlineMs": 60_000}

# When the last key was taken, and when an answer was drawn.
STOPWATCH = """
  vim.on_key(function() _G.pressed = vim.uv.hrtime() end)
  local extmarks = require("intarsia.extmarks")
  local draw = extmarks.draw
  function extmarks.draw(...)
    draw(...)
    _G.drawn = vim.uv.hrtime()
  end
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run, flag, default in (
        ("keys", measure_keys, "--count", 50),
        ("start", measure_start, "--pairs", 20),
        ("typing", measure_typing, "--minutes", 10),
    ):
        command = commands.add_parser(name)
        command.add_argument(flag, type=float, default=default, dest="amount")
        command.set_defaults(run=run)
    arguments = parser.parse_args()
    with temporary_address() as address:
        figures = arguments.run(address, arguments.amount)
    sys.stdout.write(json.dumps(figures) + "\n")


def measure_keys(address: Address, count: float) -> dict[str, object]:
    """Return milliseconds beyond the engine's: key, server, ghost text, all but the model."""
    load_model(address)
    file = address.directory / "keys.py"
    file.write_text("")
    options = {"cmd": SERVER, "settings": PATIENT, "drafts": False}
    environment = address.as_environment()
    with headless_nvim(address.directory, file, options, environment, after=STOPWATCH) as nvim:
        nvim.until(ATTACHED)
        beyond = [one_key(nvim, FUNCTION.format(number)) for number in range(int(count))]
    shown = sorted(ms for ms in beyond if ms is not None)
    return {
        "keys": int(count),
        "shown": len(shown),
        "beyond the engine, ms": {
            "p50": round(statistics.median(shown), 1),
            "p95": round(shown[round(0.95 * (len(shown) - 1))], 1),
        },
    }


def one_key(nvim: Neovim, text: str) -> float | None:
    """Type a blank after this text; return the milliseconds, None where nothing was shown."""
    nvim.keys("<Esc>")
    nvim.until("vim.api.nvim_get_mode().mode == 'n'")
    nvim.until("vim.tbl_get(require('intarsia').info() or {}, 'state') == 'ready'")
    nvim.run(
        """
        vim.api.nvim_buf_set_lines(0, 0, -1, false, ...)
        vim.cmd.normal("G")
        vim.o.eventignore = "InsertEnter" -- it is the key that is to ask
        vim.cmd.startinsert({ bang = true })
        """,
        text.splitlines(),
    )
    nvim.until("vim.api.nvim_get_mode().mode == 'i'")
    nvim.run(
        """
        vim.o.eventignore = ""
        _G.drawn, _G.before = nil, vim.inspect(require("intarsia").info().last)
        """
    )
    nvim.keys("<Space>")
    nvim.until("vim.inspect(require('intarsia').info().last) ~= _G.before", seconds=120)
    last = nvim.lua("require('intarsia').info().last")
    if not last["shown"] or last.get("ms") is None:
        return None
    took: float = nvim.until("_G.drawn and (_G.drawn - _G.pressed) / 1e6")
    return took - last["ms"]


def measure_start(address: Address, pairs: float) -> dict[str, object]:
    """Return medians of the time to the first screen, with and without, in turns."""
    folder = address.directory
    file = (
        folder / "start.js"
    )  # for Python, Neovim first looks for a provider, for seconds at times
    file.write_text("function add(left, right) {\n")
    with_plugin = write_init(folder, {"cmd": SERVER})
    without = folder / "plain.lua"
    without.write_text("")
    times: dict[Path, list[float]] = {with_plugin: [], without: []}
    for _ in range(int(pairs)):
        for init, taken in times.items():
            taken.append(start_ms(init, file, address))
    medians = {init: statistics.median(taken) for init, taken in times.items()}
    differences = [a - b for a, b in zip(times[with_plugin], times[without], strict=True)]
    return {
        "pairs": int(pairs),
        "with, ms": round(medians[with_plugin], 1),
        "without, ms": round(medians[without], 1),
        "difference, ms": round(statistics.median(differences), 1),
    }


def start_ms(init: Path, file: Path, address: Address) -> float:
    """Return what Neovim itself says of its start on this file."""
    log = address.directory / "startup.log"
    log.unlink(missing_ok=True)
    subprocess.run(
        [
            find_nvim(),
            "--headless",
            "--clean",
            "-u",
            init,
            "-n",
            "--startuptime",
            log,
            file,
            "+qa!",
        ],
        env=nvim_environment(address.directory, address.as_environment()),
        capture_output=True,
        timeout=60,
        check=True,
    )
    started = [line for line in log.read_text().splitlines() if "NVIM STARTED" in line]
    return float(started[-1].split()[0])


def measure_typing(address: Address, minutes: float) -> dict[str, object]:
    """Return how many keys were typed and suggestions accepted, and all that went wrong."""
    load_model(address)
    folder = address.directory
    file = folder / "typing.py"
    file.write_text("")
    options = {"cmd": SERVER, "settings": PATIENT}
    with neovim_terminal(folder / "nvim", file, options, address.as_environment()) as terminal:
        terminal.nvim.until(ATTACHED)
        run = TypingRun(terminal, random.Random(7))
        ends_at = time.monotonic() + 60 * minutes
        while time.monotonic() < ends_at:
            run.some_keys()
        run.check()
        told = terminal.nvim.messages()
        log = terminal.nvim.lua("require('intarsia.log').messages()")
    errors = [line for line in log if " ERROR " in line or " WARN " in line]
    lsp_log = folder / "nvim" / "nvim" / "lsp.log"
    if lsp_log.exists():
        errors += [line for line in lsp_log.read_text().splitlines() if "[ERROR]" in line]
    return {
        "minutes": minutes,
        "keys": run.num_keys,
        "accepted": run.num_accepted,
        "checks": run.num_checks,
        "texts unlike the model": run.wrong,
        "messages": told,
        "errors": errors,
    }


def load_model(address: Address) -> None:
    async def load() -> None:
        async with EngineClient(name="bench", address=address) as client:
            await client.preload()

    asyncio.run(load())


if __name__ == "__main__":
    main()
