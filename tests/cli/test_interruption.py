"""A command that is interrupted, or whose reader goes away, ends at once and in good order."""

import asyncio
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from command_line import spawn

from intarsia.cli.errors import ExitCode
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.errors import NoEngine
from intarsia.engine.ipc.messages import Status

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")


async def wait_for(address: Address, state: str) -> Status:
    """Ask until the engine is in this state; the test's time limit ends a vain wait."""
    async with EngineClient(name="test", start=False, address=address) as client:
        while True:
            with suppress(NoEngine):  # its socket is there a moment before it listens
                if (status := await client.status()).state == state:
                    return status
            await asyncio.sleep(0.01)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "file.py"
    path.write_text("x = \n")
    return path


@pytest.mark.parametrize("options", [(), ("--watch", "--write")])
def test_ctrl_c_cancels_the_fill_in_the_engine(start_engine, address, source, options):
    start_engine(text="1", num_steps=1_000_000, step_seconds=0.001)
    process = spawn("fill", source, "--at", "1:5", *options)
    asyncio.run(wait_for(address, "filling"))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == ExitCode.INTERRUPTED
    assert errors.decode().strip() == "intarsia: interrupted"
    assert asyncio.run(wait_for(address, "ready")).num_clients == 1
    assert source.read_text() == "x = \n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_api_with_open_requests_without_a_traceback(
    start_engine, address, number
):
    start_engine(text="1", num_steps=1_000_000, step_seconds=0.001)
    process = spawn("api", "--port", "0")
    port = int(process.stderr.readline().split(b":")[2].partition(b"/")[0])
    body = b'{"prompt": "x = "}'
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    whole = head.replace(b"/ ", b"/v1/completions ", 1) + b"Content-Length: 18\r\n\r\n" + body
    with (
        socket.create_connection(("127.0.0.1", port)) as half,
        socket.create_connection(("127.0.0.1", port)) as filling,
    ):
        half.sendall(head)
        filling.sendall(whole)
        asyncio.run(wait_for(address, "filling"))
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (ExitCode.OK, b"")
    assert asyncio.run(wait_for(address, "ready")).num_clients == 1


@pytest.mark.parametrize("words", [("--help",), ("status", "--json"), ("fill", "--at", "1:5")])
def test_a_closed_pipe_ends_any_command_quietly(start_engine, source: Path, words: tuple[str, ...]):
    start_engine(text="1")
    process = spawn(*words, *([source] if "fill" in words else []))
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(30) == ExitCode.PIPE_CLOSED


def test_a_full_disk_behind_standard_output_is_one_line(start_engine, source: Path):
    start_engine(text="1")
    with Path("/dev/full").open("wb") as full:
        process = spawn("fill", source, "--at", "1:5", stdout=full)
        _, errors = process.communicate(timeout=30)
    assert process.returncode not in (0, 1)
    assert b"Traceback" not in errors
    assert errors.startswith(b"intarsia: ")


def test_the_engine_command_ends_on_ctrl_c(address: Address):
    process = spawn("engine")
    asyncio.run(wait_for(address, "idle"))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_second_engine_says_in_one_line_that_there_is_one(start_engine):
    start_engine()
    process = spawn("engine")
    _, errors = process.communicate(timeout=30)
    assert process.returncode == ExitCode.ENGINE
    assert errors.count(b"\n") == 1
    assert b"running already" in errors
