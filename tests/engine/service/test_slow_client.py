"""A client that reads slowly loses drafts, never answers, and costs the engine little memory."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest

from intarsia.engine.ipc.connection import ProtocolError, read_message
from intarsia.engine.ipc.messages import (
    CanvasToken,
    EngineMessage,
    Failed,
    Step,
    decode_engine_message,
)
from intarsia.engine.service import session
from intarsia.engine.service.session import MAX_DRAFTS, Outbox


@contextlib.asynccontextmanager
async def two_ends() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A reader, and the writer that sends to it."""
    near, far = socket.socketpair()
    _, writer = await asyncio.open_connection(sock=near)
    reader, far_writer = await asyncio.open_connection(sock=far)
    yield reader, writer
    far_writer.close()
    writer.close()


async def all_of(reader: asyncio.StreamReader) -> list[EngineMessage]:
    messages = []
    with contextlib.suppress(ProtocolError, ConnectionError):
        while (message := await read_message(reader, decode_engine_message)) is not None:
            messages.append(message)
    return messages


def big_step(number: int) -> Step:
    return Step(id=1, step=number, tokens=(CanvasToken("x" * 100_000, 1.0, True),))


def answer(id: int) -> Failed:
    return Failed(id=id, code="cancelled", message="")


async def test_only_the_newest_drafts_and_every_answer_wait_for_a_slow_client():
    async with two_ends() as (reader, writer):
        box = Outbox(writer)
        for number in range(200):
            box.put(big_step(number))
        for id in range(20):
            box.put(answer(id))
        box.put(big_step(200))
        reading = asyncio.create_task(all_of(reader))
        await box.close(10)
        messages = await reading
    steps = [message.step for message in messages if isinstance(message, Step)]
    assert len(steps) <= MAX_DRAFTS + 1  # one was under way already
    assert steps == sorted(steps)
    assert steps[-1] == 200
    assert [m.id for m in messages if isinstance(m, Failed)] == list(range(20))


async def test_a_client_that_stopped_reading_is_disconnected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(session, "MAX_MESSAGES", 10)
    async with two_ends() as (_, writer):
        box = Outbox(writer)
        for id in range(20):
            box.put(answer(id))
        await box.close(10)
        assert writer.is_closing()


async def test_close_does_not_wait_for_a_client_that_does_not_read():
    async with two_ends() as (_, writer):
        box = Outbox(writer)
        for number in range(100):
            box.put(Failed(id=number, code="internal", message="x" * 100_000))
        async with asyncio.timeout(5):
            await box.close(0.05)
