"""The engine answers the next client after any bytes at its socket."""

import asyncio
import struct
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from in_process_engine import always, in_process_engine
from raw_client import greeted_client, raw_client
from rule_engine import RuleFiller
from temporary_address import temporary_address

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.messages import Cancel, Fill, Filled, GetStatus, Preload
from intarsia.engine.ipc.transport import to_frame

REAL = [
    to_frame(Fill(id=1, prefix="a", suffix="b", watch=True)),
    to_frame(Cancel(id=1)),
    to_frame(GetStatus(id=2)),
    to_frame(Preload(id=3)),
]

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
messages = st.fixed_dictionaries(
    {"type": st.sampled_from(["fill", "cancel", "get_status", "preload", "hello", "welcome"])},
    optional={"id": values, "prefix": values, "suffix": values, "stop": values, "model": values},
)


def in_frame(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


chunks = st.one_of(
    st.binary(max_size=64),
    st.binary(max_size=64).map(in_frame),
    messages.map(msgspec.msgpack.encode).map(in_frame),
    st.sampled_from(REAL),
    st.sampled_from(REAL).flatmap(
        lambda frame: st.integers(0, len(frame)).map(lambda n: frame[:n])
    ),
)


async def receives(address: Address, data: bytes, is_greeted: bool) -> None:
    """Send the bytes, and check that the next client is answered."""
    async with raw_client(address) as client:
        if is_greeted:
            await client.greet()
        client.send_bytes(data)
        client.end_of_input()
        while await client.receive() is not None:
            pass
    async with greeted_client(address) as client:
        client.send(Fill(id=1, prefix="", suffix=""))
        while not isinstance(message := await client.receive(), Filled):
            assert message is not None
        assert message.text == "fine"


@pytest.fixture
def engine() -> Iterator[tuple[asyncio.Runner, Address]]:
    """One engine for all examples, on an event loop that runs only during an example."""
    with temporary_address() as address, asyncio.Runner() as runner:
        service = in_process_engine(address, always(RuleFiller(lambda _: "fine")))
        runner.run(service.__aenter__())
        yield runner, address
        runner.run(service.__aexit__(None, None, None))


@settings(
    max_examples=150, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.lists(chunks, max_size=5).map(b"".join), is_greeted=st.booleans())
def test_any_bytes_leave_the_engine_answering(
    engine: tuple[asyncio.Runner, Address], data: bytes, is_greeted: bool
) -> None:
    runner, address = engine
    runner.run(receives(address, data, is_greeted))
