"""Without a remote server that the user names, no process of ours asks the network for anything.

All run in a network namespace that has no network, where this machine can make one. Besides, an
audit hook in each Python process writes down the addresses that it asks for.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from command_line import COMMAND
from editor_clients import (
    ask_inline,
    change_document,
    initialize,
    inline_items,
    neovim,
    open_document,
)
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient
from temporary_address import temporary_address
from toy_causal import save_toy, toy_causal_model

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.launch import LaunchOptions

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")

GUARD = Path(__file__).parent / "support" / "network_guard"
BEFORE = "def add(left, right):\n    return left + right\n\n\ntotal = add(1, 2)\nprint(total)\n"
AFTER = BEFORE.replace("total = ", "result = ")


@cache
def without_network() -> tuple[str, ...]:
    """Return the words before a command that take its network away; none where that fails."""
    for words in (("unshare", "--net"), ("unshare", "--map-root-user", "--net")):
        try:
            if subprocess.run([*words, "true"], capture_output=True).returncode == 0:
                return words
        except OSError:
            break
    return ()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """That of a user with an engine of a toy's size, which runs already."""
    folder = tmp_path_factory.mktemp("user")
    model = save_toy(folder / "toy", toy_causal_model("qwen2"))
    with temporary_address() as address, pytest.MonkeyPatch.context() as patch:
        own = {name: folder / name for name in ("INTARSIA_CACHE_DIR", "INTARSIA_DATA_DIR")}
        own |= {"PYTHONPATH": GUARD, "NETWORK_LOG": folder / "log"}
        for name, value in {**own, **address.as_environment()}.items():
            patch.setenv(name, str(value))
        asyncio.run(load(address, model))
        yield dict(os.environ)


async def load(address: Address, model: Path) -> None:
    command = (*without_network(), sys.executable, "-P", "-m", "intarsia.engine")
    launch = LaunchOptions(
        command=command, model=str(model), device="cpu", dtype="float32", quantize="none"
    )
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    (folder / "a.py").write_text(AFTER)
    (folder / "b.py").write_text("from a import add\n")
    (tmp_path / "before.py").write_text(BEFORE)
    return folder


def run(environment: Mapping[str, str], *words: str | Path) -> str:
    done = subprocess.run(
        [*without_network(), *COMMAND, *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode in (0, 1), done.stderr  # 1: a toy's text is seldom any good
    return done.stdout + done.stderr


def log_of(environment: Mapping[str, str]) -> list[str]:
    return Path(environment["NETWORK_LOG"]).read_text().splitlines()


def test_the_guard_sees_who_is_asked(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(GUARD), "NETWORK_LOG": str(tmp_path / "log")}
    code = "import socket; socket.socket(type=socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"
    subprocess.run([sys.executable, "-P", "-c", code], env=environment, capture_output=True)
    resolve = "import socket; socket.getaddrinfo('model.invalid', 443)"
    subprocess.run([sys.executable, "-P", "-c", resolve], env=environment, capture_output=True)
    asked = [line for line in log_of(environment) if line.startswith("asked")]
    assert [line.split()[1] for line in asked] == ["socket.connect", "socket.getaddrinfo"]


def test_no_command_asks_the_network(environment: Mapping[str, str], folder: Path) -> None:
    file, before = folder / "a.py", folder.parent / "before.py"
    run(environment, "fill", file, "--at", "2:12")
    assert "toy" in run(environment, "status")
    run(environment, "next", file, "--before", before)
    assert "def add" in run(environment, "context", file, "--at", "6:7")
    assert "torch" in run(environment, "doctor")
    log = log_of(environment)
    started = "\n".join(line for line in log if line.startswith("started"))
    for words in ("intarsia.cli fill", "intarsia.cli next", "intarsia.cli doctor"):
        assert words in started
    assert "-m intarsia.engine" in started
    assert not [line for line in log if line.startswith("asked")]


async def test_the_language_server_asks_no_network(environment, folder):
    """From its start over a fill and an edit to its end, with the index of an opened folder."""
    config = ClientServerConfig(
        server_command=[*without_network(), *COMMAND, "serve"], server_env=dict(environment)
    )
    client = await config.start()
    assert isinstance(client, LanguageClient)
    client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: None)
    who = neovim()
    who.root_uri = folder.as_uri()
    who.initialization_options = {"debounceMs": 0, "deadlineMs": 60_000}
    await initialize(client, who)
    client.initialized(types.InitializedParams())
    uri = open_document(client, (folder / "a.py").as_uri(), BEFORE)
    await inline_items(client, ask_inline(uri, 1, 11))
    change_document(client, uri, AFTER, 2)
    params = types.ExecuteCommandParams(
        "intarsia.context",
        [{"textDocument": {"uri": uri}, "position": {"line": 5, "character": 6}}],
    )
    await client.workspace_execute_command_async(params)
    await client.shutdown_session()
    await client.stop()
    log = log_of(environment)
    for words in ("intarsia.cli serve", "-m intarsia.engine", "-m intarsia.workspace"):
        assert [line for line in log if line.startswith("started") and words in line], words
    assert not [line for line in log if line.startswith("asked")]
