"""What a client can rely on: several fills in flight, cancel, steps, a reason for no answer."""

import asyncio
import subprocess
import sys
import threading

import pytest
from in_process_engine import always, engine_client, hole, in_process_engine
from rule_engine import RuleFiller

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient, EngineUnavailable, FillFailed
from intarsia.engine.ipc.messages import MAX_FRAME_BYTES, Fill, LoadProgress, Step

FOREVER = 1_000_000
PATIENCE_S = 20.0


async def test_a_fill_is_answered_with_text_and_figures(any_address: Address):
    filler = RuleFiller(lambda request: request.prefix.upper())
    async with engine_client(any_address, filler) as client:
        answer = await client.fill(hole("abc def"))
    assert (answer.text, answer.num_forwards, answer.finish_reason) == ("ABC DEF", 2, "end_of_hole")
    assert answer.ms.total >= answer.ms.queue >= 0


async def test_several_fills_in_flight_get_their_own_answers(address: Address):
    filler = RuleFiller(lambda request: request.prefix + "!")
    async with engine_client(address, filler) as client:
        answers = await asyncio.gather(*(client.fill(hole(f"n{i}")) for i in range(50)))
    assert [answer.text for answer in answers] == [f"n{i}!" for i in range(50)]


async def test_a_watched_fill_shows_its_steps_in_order(address: Address):
    filler = RuleFiller(lambda _: "a = b")
    steps: list[Step] = []
    async with engine_client(address, filler) as client:
        await client.fill(hole(watch=True), steps.append)
        await client.fill(hole(watch=False), lambda _: pytest.fail("not watched"))
    assert [step.step for step in steps] == [1, 2, 3]
    assert [token.is_settled for token in steps[1].tokens] == [True, True, False]


async def test_a_fault_in_on_step_reaches_its_own_caller_and_cancels(address: Address):
    filler = RuleFiller(lambda _: "x", 0.001, num_steps=FOREVER)

    def on_step(_: Step) -> None:
        raise LookupError("the caller's own")

    async with engine_client(address, filler) as client:
        with pytest.raises(LookupError, match="the caller's own"):
            await client.fill(hole(watch=True), on_step)
        assert (await client.fill(hole(max_steps=1))).num_forwards == 1


async def test_a_cancelled_await_ends_the_fill_between_two_steps(any_address: Address):
    filler = RuleFiller(lambda _: "x", 0.001, num_steps=FOREVER)
    async with engine_client(any_address, filler) as client:
        has_begun = asyncio.Event()
        endless = asyncio.create_task(client.fill(hole(watch=True), lambda _: has_begun.set()))
        await has_begun.wait()
        endless.cancel()
        with pytest.raises(asyncio.CancelledError):
            await endless
        # The one worker is free again: without the cancel the fill would run for minutes.
        async with asyncio.timeout(PATIENCE_S):
            assert (await client.fill(hole(max_steps=3))).num_forwards == 3


async def test_a_cancel_does_not_wait_for_the_engine(address: Address):
    gate, has_begun = threading.Event(), threading.Event()

    def blocked(_: Fill) -> str:
        has_begun.set()
        gate.wait(PATIENCE_S)
        return ""

    async with engine_client(address, RuleFiller(blocked)) as client:
        try:
            fill = asyncio.create_task(client.fill(hole()))
            assert await asyncio.to_thread(has_begun.wait, PATIENCE_S)
            fill.cancel()
            with pytest.raises(asyncio.CancelledError):
                await fill
            assert (await client.status()).state == "filling"
        finally:
            gate.set()


async def test_a_deadline_gives_the_best_answer_so_far(address: Address):
    filler = RuleFiller(lambda _: "a b", 0.001, num_steps=FOREVER)
    async with engine_client(address, filler) as client:
        await client.preload()
        async with asyncio.timeout(PATIENCE_S):
            answer = await client.fill(hole(deadline_ms=300))
    assert answer.finish_reason == "deadline"
    assert answer.num_forwards >= 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"max_tokens": 0}, "max_tokens must be 1 or more, got 0"),
        ({"prefix": "x" * MAX_FRAME_BYTES}, "bytes"),
        ({"prefix": "\udc80"}, "cannot be encoded"),
    ],
)
async def test_what_cannot_be_filled_is_a_bad_request(address, fields, message):
    async with engine_client(address, RuleFiller(lambda _: "fine")) as client:
        with pytest.raises(FillFailed, match=message) as caught:
            await client.fill(hole(**fields))
        assert caught.value.code == "bad_request"
        assert (await client.fill(hole())).text == "fine"


async def test_load_progress_reaches_every_connected_client(address: Address):
    seen: list[LoadProgress] = []
    filler = RuleFiller(lambda _: "")
    async with (
        in_process_engine(address, always(filler)),
        EngineClient(
            name="test", start=False, address=address, on_load_progress=seen.append
        ) as watcher,
        EngineClient(name="test", start=False, address=address) as other,
    ):
        assert (await watcher.status()).model is None
        loaded = await other.preload()
        await watcher.status()
    assert seen == [LoadProgress(stage="loading", fraction=1.0)]
    assert (loaded.state, loaded.model, loaded.notes) == ("ready", "rules", filler.info.notes)


async def test_an_engine_that_stops_fails_running_and_waiting_fills(address: Address):
    filler = RuleFiller(lambda _: "x", 0.001, num_steps=FOREVER)
    async with engine_client(address, filler) as client:
        fills = [asyncio.create_task(client.fill(hole())) for _ in range(3)]
        await client.status()  # answered after the fills were read
        async with EngineClient(name="test", start=False, address=address) as other:
            other_stop = asyncio.create_task(other.stop())
            results = await asyncio.gather(*fills, return_exceptions=True)
    assert [getattr(result, "code", result) for result in results] == ["cancelled"] * 3
    await other_stop


async def test_a_closed_client_fails_requests_in_flight_and_refuses_more(address: Address):
    filler = RuleFiller(lambda _: "x", 0.001, num_steps=FOREVER)
    async with in_process_engine(address, always(filler)):
        client = EngineClient(name="test", start=False, address=address)
        fill = asyncio.create_task(client.fill(hole()))
        await client.status()
        await client.close()
        with pytest.raises(FillFailed):
            await fill
        with pytest.raises(EngineUnavailable, match="closed"):
            await client.fill(hole())


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("ipc.client", {"numpy", "tokenizers", "intarsia.engine.config"}),
        ("service.process", set()),
        ("model_store.locate", {"huggingface_hub"}),
    ],
)
def test_neither_a_client_nor_an_idle_engine_nor_a_pull_imports_torch(module, others):
    heavy = {"torch", "transformers", *others}
    code = f"import sys, intarsia.engine.{module}; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
