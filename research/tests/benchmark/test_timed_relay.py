"""A relay passes bytes on unchanged, and counts the time between a request and its answer."""

import asyncio

import pytest

from intarsia_research.benchmark.timed_relay import ServerTime, timed_relay


class Answering:
    """A server that answers with two parts. The second one comes when it is allowed."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.has_lost_its_client = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.read(100)
        if asked:
            writer.write(b"one " + asked)
            await self.may_end.wait()
            writer.write(b" two")
            await reader.read()
            self.has_lost_its_client.set()
        writer.close()


async def test_an_answer_comes_in_its_parts_and_its_time_is_counted() -> None:
    answering = Answering()
    server = await asyncio.start_server(answering, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with timed_relay("127.0.0.1", port) as (relay_port, server_time):
        reader, writer = await asyncio.open_connection("127.0.0.1", relay_port)
        assert server_time.total_s == 0
        writer.write(b"asked")
        assert await reader.readexactly(9) == b"one asked"
        first_s = server_time.total_s
        assert first_s > 0
        answering.may_end.set()
        assert await reader.readexactly(4) == b" two"
        assert server_time.total_s > first_s
        writer.close()
        await asyncio.wait_for(answering.has_lost_its_client.wait(), 20)
    server.close()


async def test_a_relay_needs_a_server() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    with pytest.raises(OSError), timed_relay("127.0.0.1", port):
        pass


async def test_requests_follow_each_other_on_new_connections() -> None:
    answering = Answering()
    answering.may_end.set()
    server = await asyncio.start_server(answering, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with timed_relay("127.0.0.1", port) as (relay_port, _):
        for asked in (b"first", b"other", b"third"):
            reader, writer = await asyncio.open_connection("127.0.0.1", relay_port)
            writer.write(asked)
            assert await reader.readexactly(13) == b"one " + asked + b" two"
            writer.close()
    server.close()


def test_time_between_requests_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1.0, 1.5, 2.0, 100.0, 101.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(times))
    server_time = ServerTime()
    server_time.note_request()
    server_time.note_answer()
    server_time.note_answer()
    server_time.note_request()
    server_time.note_answer()
    assert server_time.total_s == 2.0
