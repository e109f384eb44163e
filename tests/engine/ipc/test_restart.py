"""A killed or hung engine: the request fails with a reason, the next one finds a new engine."""

import asyncio
import os
import signal
import subprocess
import sys

import filelock
import psutil
import pytest
from in_process_engine import hole
from rule_engine import rule_engine_launch
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import (
    Backoff,
    EngineClient,
    EngineUnavailable,
    FillFailed,
    Link,
    NoEngine,
)
from intarsia.engine.ipc.launch import LaunchOptions, stop_engine

FOREVER = 1_000_000


def a_client(address: Address, launch: LaunchOptions) -> EngineClient:
    return EngineClient(name="test", launch=launch, address=address)


async def test_an_engine_killed_in_mid_request_fails_all_open_requests_and_is_restarted(
    any_address,
):
    launch = rule_engine_launch(text="text", num_steps=FOREVER, step_seconds=0.001)
    async with a_client(any_address, launch) as client:
        pid = (await client.status()).pid
        has_begun = asyncio.Event()
        watched = asyncio.create_task(client.fill(hole(watch=True), lambda _: has_begun.set()))
        await has_begun.wait()
        waiting = asyncio.create_task(client.fill(hole()))
        await client.status()  # answered after the second fill has arrived
        os.kill(pid, signal.SIGKILL)
        for fill in (watched, waiting):
            with pytest.raises(FillFailed, match="before it answered: try again") as caught:
                await fill
            assert caught.value.code == "internal"
        assert (await client.fill(hole(max_steps=1))).num_forwards == 1
        assert (await client.status()).pid != pid


async def test_another_client_finds_the_restarted_engine_without_delay(address: Address):
    launch = rule_engine_launch(text="text", rules=[("poison", "!crash")])
    async with a_client(address, launch) as crasher, a_client(address, launch) as other:
        await other.status()
        with pytest.raises(FillFailed):
            await crasher.fill(hole("poison"))
        while other.welcome is not None:  # noqa: ASYNC110 until it has seen the engine end too
            await asyncio.sleep(0)
        assert (await other.fill(hole())).text == "text"
        assert (await crasher.status()).pid == (await other.status()).pid


async def test_an_engine_that_is_stopped_during_a_load_does_not_finish_it(address: Address):
    async with a_client(address, rule_engine_launch(load_seconds=600)) as client:
        preload = asyncio.create_task(client.preload())
        while (await client.status()).state != "loading":
            pass
        process = psutil.Process((await client.status()).pid)
        await client.stop()
        with pytest.raises(FillFailed):
            await preload
    await asyncio.to_thread(process.wait, 20)
    assert not list(address.directory.glob("engine.[sp]*"))


async def test_a_hung_engine_is_stopped_all_the_same(address: Address):
    async with a_client(address, rule_engine_launch()) as client:
        process = psutil.Process((await client.status()).pid)
    process.suspend()
    await stop_engine(address, name="test", patience_s=0.3)
    await asyncio.to_thread(process.wait, 20)


async def test_an_engine_whose_socket_is_gone_can_be_stopped(any_address: Address):
    async with a_client(any_address, rule_engine_launch()) as client:
        process = psutil.Process((await client.status()).pid)
    for path in (any_address.socket_path, any_address.port_path):
        path.unlink(missing_ok=True)
    await stop_engine(any_address, name="test")
    await asyncio.to_thread(process.wait, 20)
    with pytest.raises(NoEngine):
        await stop_engine(any_address, name="test")


async def test_a_process_that_reused_the_id_of_an_engine_is_left_alone(address: Address):
    stranger = psutil.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with filelock.FileLock(address.engine_lock_path):
            address.pid_path.write_text(str(stranger.pid))
            an_hour_ago = stranger.create_time() - 3600
            os.utime(address.pid_path, (an_hour_ago, an_hour_ago))
            with pytest.raises(EngineUnavailable, match="another program has its process id"):
                await stop_engine(address, name="test", patience_s=0.1)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.communicate()


def test_the_delay_doubles_from_half_a_second_to_thirty_and_ends_with_time_or_success():
    now = 100.0
    backoff = Backoff(clock=lambda: now)
    delays = [backoff.seconds_left()]
    for _ in range(100):
        backoff.failed()
        delays.append(backoff.seconds_left())
    assert delays[:9] == [0, 0.5, 1, 2, 4, 8, 16, 30, 30]
    assert delays[-1] == 30
    now += 29.5
    assert backoff.seconds_left() == pytest.approx(0.5)
    now += 1
    assert backoff.seconds_left() == 0
    backoff.failed()
    backoff.succeeded()
    assert (backoff.seconds_left(), backoff.num_failures) == (0, 0)


async def test_a_long_delay_is_an_error_at_once():
    backoff = Backoff(clock=lambda: 100.0)
    for _ in range(5):
        backoff.failed()
    with temporary_address() as address:
        link = Link(name="test", address=address, launch=LaunchOptions(), backoff=backoff)
        with pytest.raises(EngineUnavailable, match=r"failed 5 times in a row.*again in 8 s"):
            await link.connection()
        await link.close()
