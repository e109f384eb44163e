"""One engine for each user, started by the first client, with a reason if it cannot start."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from checkout import SUPPORT
from rule_engine import rule_engine_command, rule_engine_launch
from temporary_address import temporary_address

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.config import EngineConfig, parse_arguments
from intarsia.engine.ipc import launch
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, EngineUnavailable
from intarsia.engine.ipc.launch import ALREADY_RUNNING_EXIT_CODE, LaunchOptions, start_detached
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.service.endpoint import AddressInUse, hold_address

HOLE = Fill(id=0, prefix="", suffix="")


def a_client(address: Address, launch: LaunchOptions | None = None) -> EngineClient:
    launch = launch or rule_engine_launch(text="text")
    return EngineClient(name="test", launch=launch, address=address)


def a_script(code: str) -> LaunchOptions:
    return LaunchOptions(command=(sys.executable, "-c", code), start_timeout_s=30)


async def test_processes_that_start_at_once_get_one_engine(any_address: Address):
    code = (
        f"import asyncio, sys; sys.path.insert(0, {str(SUPPORT)!r})\n"
        "from rule_engine import rule_engine_launch\n"
        "from intarsia.engine.ipc.client import EngineClient\n"
        "async def ask():\n"
        "    async with EngineClient(name='x', launch=rule_engine_launch()) as client:\n"
        "        return (await client.status()).pid\n"
        "async def main():\n"
        "    print(await asyncio.gather(ask(), ask()))\n"
        "asyncio.run(main())\n"
    )
    environment = {**os.environ, **any_address.as_environment()}
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, env=environment, stdout=subprocess.PIPE
        )
        for _ in range(4)
    ]
    found = [json.loads((await process.communicate())[0]) for process in processes]
    assert len({pid for pids in found for pid in pids}) == 1
    assert any_address.log_path.read_text().count(" serves ") == 1


async def test_the_engine_outlives_its_client_and_serves_the_next(address: Address):
    async with a_client(address) as client:
        process = psutil.Process((await client.status()).pid)
    assert os.getsid(process.pid) == process.pid, "it has left the terminal"
    assert process.cwd() == str(address.directory.resolve())
    assert address.log_path.stat().st_mode & 0o777 == 0o600
    async with EngineClient(name="next", start=False, address=address) as client:
        assert (await client.status()).pid == process.pid
        await client.stop()
    await asyncio.to_thread(process.wait, 20)
    assert not address.socket_path.exists()


async def test_sigterm_ends_the_engine_cleanly(address: Address):
    async with a_client(address) as client:
        process = psutil.Process((await client.status()).pid)
    process.send_signal(signal.SIGTERM)
    await asyncio.to_thread(process.wait, 20)
    assert not address.socket_path.exists()
    assert address.log_path.read_text().rstrip().endswith("ended")


async def test_an_idle_engine_frees_the_memory_and_comes_back_when_needed(any_address: Address):
    launch = rule_engine_launch(text="text", idle_timeout_s=0.2)
    async with a_client(any_address, launch) as client:
        await client.fill(HOLE)
        process = psutil.Process((await client.status()).pid)
        await asyncio.to_thread(process.wait, 20)  # although a client is connected
        assert (await client.fill(HOLE)).text == "text"
        assert (await client.status()).pid != process.pid


async def test_an_engine_at_work_is_not_idle(address: Address):
    launch = rule_engine_launch(text="x", idle_timeout_s=0.1, num_steps=40, step_seconds=0.01)
    async with a_client(address, launch) as client:
        assert (await client.fill(HOLE)).text == "x"


async def test_a_stale_socket_is_replaced(address: Address):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(address.socket_path))
    async with a_client(address) as client:
        assert (await client.fill(HOLE)).text == "text"


async def test_a_stale_port_file_that_leads_to_another_program_is_replaced(monkeypatch):
    was_stale = []

    def start(command: tuple[str, ...], address: Address) -> object:
        was_stale.append(address.port_path.exists())
        return start_detached(command, address)

    monkeypatch.setattr(launch, "start_detached", start)

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ready\r\n")
        writer.close()

    with temporary_address("tcp") as address:
        async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            address.port_path.write_text(f'{{"port": {port}, "token": "old"}}')
            async with a_client(address) as client:
                assert (await client.fill(HOLE)).text == "text"
    assert was_stale == [False], "a client that asks while the engine starts would be led astray"


async def test_a_socket_of_another_program_is_left_alone(address: Address):
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_unix_server(hang_up, address.socket_path):
        async with a_client(address) as client:
            with pytest.raises(EngineUnavailable, match="program that is not an intarsia engine"):
                await client.fill(HOLE)
        assert address.socket_path.is_socket()


def test_a_file_in_the_sockets_place_is_left_alone(address: Address):
    address.socket_path.write_text("precious")
    with pytest.raises(AddressInUse, match="not a socket: move it away"), hold_address(address):
        pass
    assert address.socket_path.read_text() == "precious"


async def test_a_second_engine_ends_at_once(address: Address):
    async with a_client(address) as client:
        pid = (await client.status()).pid
        second = await asyncio.create_subprocess_exec(
            *rule_engine_command(),
            env={**os.environ, **address.as_environment()},
            stderr=subprocess.PIPE,
        )
        assert b"running already" in (await second.communicate())[1]
        assert second.returncode == ALREADY_RUNNING_EXIT_CODE
        assert (await client.status()).pid == pid


def test_an_engine_that_neither_ends_nor_answers_is_an_error(address: Address):
    with (
        hold_address(address),
        pytest.raises(AddressInUse, match="does not answer: run `intarsia stop`"),
        hold_address(address, patience_s=0),
    ):
        pass


async def test_an_engine_that_cannot_start_says_why_in_its_last_line(address: Address):
    async with a_client(address, LaunchOptions(command=("/no/such/python",))) as client:
        with pytest.raises(EngineUnavailable, match="/no/such/python"):
            await client.fill(HOLE)
    launch = a_script("import sys; print('first'); sys.exit('cannot find the thing: install it')")
    async with a_client(address, launch) as client:
        with pytest.raises(EngineUnavailable, match="cannot find the thing: install it") as caught:
            await client.fill(HOLE)
    assert "exit code 1" in str(caught.value)
    assert str(address.log_path) in str(caught.value)


async def test_a_start_that_takes_too_long_is_an_error(address: Address):
    launch = a_script("import time; time.sleep(5)")
    async with a_client(address, replace(launch, start_timeout_s=0.5)) as client:
        with pytest.raises(EngineUnavailable, match=r"did not start within 0.5 s: see .*log"):
            await client.fill(HOLE)


async def test_a_cancelled_first_request_does_not_stop_the_start(address: Address):
    async with a_client(address) as client:
        first = asyncio.create_task(client.fill(HOLE))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (await client.fill(HOLE)).text == "text"
    assert address.log_path.read_text().count(" serves ") == 1


def test_what_a_process_writes_before_its_starter_goes_on_is_known(address: Address, monkeypatch):
    class Finished(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.wait()

    monkeypatch.setattr(subprocess, "Popen", Finished)
    address.log_path.write_text("old\n")
    assert start_detached([sys.executable, "-c", "print('new')"], address).last_words() == "new"


def test_a_long_log_is_renamed_at_the_next_start(address: Address, monkeypatch):
    monkeypatch.setattr(launch, "MAX_LOG_BYTES", 10)
    address.log_path.write_text("much too long")
    process = start_detached([sys.executable, "-c", "print('new')"], address)
    process.process.wait()
    assert address.log_path.read_text().strip() == "new"
    assert address.log_path.with_name("engine.log.1").read_text() == "much too long"


@pytest.mark.parametrize("folder", ["cache", "~/cache", None])
def test_the_engine_uses_the_cache_folder_that_its_client_means(
    folder, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    if folder is None:
        monkeypatch.delenv("INTARSIA_CACHE_DIR", raising=False)
    else:
        monkeypatch.setenv("INTARSIA_CACHE_DIR", folder)
    code = "from intarsia.engine.cache.folder import cache_folder; print(cache_folder())"
    start_detached([sys.executable, "-c", code], address).process.wait()
    assert address.log_path.read_text().strip() == str(cache_folder().absolute())


def test_a_cache_folder_in_no_home_is_refused(address: Address, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("INTARSIA_CACHE_DIR", "~no-such-user/cache")
    with pytest.raises(EngineUnavailable, match=r"INTARSIA_CACHE_DIR .*: set it to a full path"):
        start_detached([sys.executable, "-c", ""], address)


def test_launch_options_are_the_engines_flags():
    options = {
        "model": "m",
        "device": "cpu",
        "dtype": "float32",
        "idle_timeout_s": 1.5,
        "quantize": "fp8",
    }
    flags = LaunchOptions(**options, command=()).full_command()
    others = ("--drafter", "/d.safetensors", "--cache-tokens", "10", "--max-context-tokens", "20")
    drafter = Path("/d.safetensors")
    assert parse_arguments((*flags, *others)) == EngineConfig(
        **options, drafter=drafter, cache_tokens=10, max_context_tokens=20
    )
    assert parse_arguments([]) == EngineConfig()


@pytest.mark.parametrize(
    "flags", [["--idle-timeout", "0"], ["--idle-timeout", "nan"], ["--device", "abacus"], ["x"]]
)
def test_a_wrong_flag_ends_the_engine_with_a_usage_line(flags, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        parse_arguments(flags)
    assert "usage: python -m intarsia.engine" in capsys.readouterr().err


def test_a_log_that_cannot_be_in_its_own_folder_is_beside_the_socket(address, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "taken" / "engine.log").mkdir(parents=True)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    beside = address.directory
    for folder, used in (
        (tmp_path / "state" / "log", tmp_path / "state" / "log"),
        (tmp_path / "file" / "log", beside),
        (tmp_path / "taken", beside),
        (tmp_path / "shared", beside),  # all users could write there
    ):
        process = start_detached(
            (sys.executable, "-P", "-c", "print('its last words')"),
            replace(address, log_directory=folder),
        )
        assert process.process.wait() == 0
        assert process.last_words() == "its last words"
        assert process.log_path == used / "engine.log"
