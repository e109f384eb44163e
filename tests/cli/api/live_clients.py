"""Plugins of other projects in a real Neovim, against the real API: run where they are at hand.

``make foreign-clients`` runs these; ``LLAMA_VIM`` and ``MINUET`` name the plugins' folders. The
requests that they sent are in ``tests/data/api_requests``, for runs without the plugins; with
``RECORD_REQUESTS`` set they are written there again.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from api_desk import Desk, api_in_thread, api_of_real_engine
from checkout import ROOT
from foreign_plugins import GHOST_TEXT, LLAMA_VIM, MINUET, init_of
from headless_nvim import Neovim, headless_nvim

from intarsia.engine.ipc.address import Address

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform == "win32", reason="Neovim listens on a Unix socket"),
]

TEXT = 'def add(left, right):\n    """Return the sum of left and right."""\n    return\n'
SECOND = "import math\n\n\ndef area(radius):\n    return math.pi * radius**2\n"

LLAMA_VIM_RAN = "ggml-org/llama.vim a1c8e6e in Neovim 0.11.4"
MINUET_RAN = "milanglacier/minuet-ai.nvim 479487c in Neovim 0.11.4"


@pytest.fixture
def open_client(tmp_path: Path):
    """Open files in a Neovim with nothing but one plugin; the first file is shown."""
    with ExitStack() as stack:

        def start(init: str, variable: str, desk: Desk, *files: str) -> Neovim:
            if variable not in os.environ:
                pytest.skip(f"{variable} names no folder with the plugin")
            plugin = Path(os.environ[variable])
            (tmp_path / "init.lua").write_text(init_of(init, plugin, desk.listening.url))
            paths = [tmp_path / f"{name}.py" for name in ("one", "two")[: len(files)]]
            for path, text in zip(paths, files, strict=True):
                path.write_text(text)
            nvim = stack.enter_context(headless_nvim(tmp_path, paths[0], tmp_path / "init.lua", {}))
            nvim.until("vim.v.vim_did_enter == 1")
            return nvim

        yield start


def record(name: str, origin: str, desk: Desk) -> None:
    if os.environ.get("RECORD_REQUESTS"):
        requests = [{"path": path, "body": json.loads(body)} for path, body in desk.requests]
        told = {"origin": f"recorded from {origin} (live_clients.py)", "requests": requests}
        file = ROOT / "tests" / "data" / "api_requests" / f"{name}.json"
        file.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


@pytest.mark.parametrize(
    ("init", "name", "accept", "origin"),
    [(LLAMA_VIM, "llama_vim", "<Tab>", LLAMA_VIM_RAN), (MINUET, "minuet", "<A-A>", MINUET_RAN)],
)
def test_a_plugin_shows_and_accepts_a_fill(open_client, address, init, name, accept, origin):
    with api_in_thread(address, lambda _: "left + right") as desk:
        nvim = open_client(init, name.upper(), desk, TEXT)
        nvim.keys("GA ")
        nvim.until(f"{GHOST_TEXT} == 'left + right'")
        nvim.keys(accept)
        nvim.until("vim.api.nvim_get_current_line() == '    return left + right'")
        record(name, origin, desk)
    fill = desk.fills[0]
    assert (fill.prefix + fill.given).endswith("    return ")
    assert name != "minuet" or "python" in fill.prefix


def test_llama_vim_shows_a_block_with_other_files(open_client, address: Address):
    body = "    total = left\n    return total + right"
    with api_in_thread(address, lambda fill: body if fill.max_tokens > 100 else "") as desk:
        nvim = open_client(LLAMA_VIM, "LLAMA_VIM", desk, "def add(left, right):\n", SECOND)
        nvim.run("vim.cmd.cd(vim.fn.expand('%:h')) vim.cmd.edit('two.py') vim.cmd.write()")
        nvim.run("vim.cmd.buffer(1)")
        until_asked(desk, "n_predict", 0)
        nvim.keys("GA<CR>")
        nvim.until(f"{GHOST_TEXT} == [[{body.strip().replace(chr(10), '|')}]]")
        record("llama_vim_block", LLAMA_VIM_RAN, desk)
    assert any(fill.project is not None for fill in desk.fills)


def test_minuet_takes_an_old_request_back(open_client, address: Address):
    steps: list[int] = []
    with api_in_thread(
        address,
        lambda _: "left + right",
        num_steps=200,
        step_seconds=0.02,
        between_steps=steps.append,
    ) as desk:
        nvim = open_client(MINUET, "MINUET", desk, TEXT)
        nvim.keys("GA ")
        until(lambda: len(steps) > 5)
        nvim.keys("l")
        until(lambda: len(desk.fills) == 2)
        until(lambda: steps.count(1) == 2)
        assert 200 not in steps, "the first fill was cancelled"


@pytest.mark.model
@pytest.mark.parametrize(
    ("init", "variable"),
    [(LLAMA_VIM, "LLAMA_VIM"), (MINUET, "MINUET")],
    ids=["llama.vim", "minuet"],
)
def test_the_real_model_s_fill_is_shown(open_client, real_engine_runtime, init, variable):
    if variable not in os.environ:
        pytest.skip(f"{variable} names no folder with the plugin")
    with api_of_real_engine(real_engine_runtime) as desk:
        nvim = open_client(init, variable, desk, TEXT)
        nvim.keys("GA ")
        nvim.until(f"{GHOST_TEXT} == 'left + right'", seconds=60)


def until_asked(desk: Desk, field: str, value: object) -> None:
    """Wait for a request with this field."""
    until(lambda: any(json.loads(body).get(field) == value for _, body in desk.requests if body))


def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    ends_at = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends_at, "never came true"
        time.sleep(0.01)
