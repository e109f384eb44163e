"""The same asked again, and fills that are cancelled, with engines that fill by rules."""

from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.cancel import CANCELS_A_HOLE, measure_cancel
from intarsia_research.benchmark.determinism import measure_determinism, same_percent
from intarsia_research.benchmark.figures import Bench


async def test_engines_that_write_the_same_are_told_to(address: Address):
    client = EngineClient(name="test", start=False, address=address)
    bench = Bench(
        client=client,
        address=address,
        options=FillOptions(),
        repeats=2,
        launch=rule_engine_launch(text="return value"),
    )
    figures = await measure_determinism(bench)
    await client.close()
    assert {it.name: it.value for it in figures} == {
        "same_likeliest_again_share": 100,
        "same_likeliest_fresh_share": 100,
        "same_drawn_again_share": 100,
        "same_drawn_fresh_share": 100,
    }
    assert all("2 lines" in it.method for it in figures)


def test_texts_are_the_same_in_every_sign_or_they_are_not():
    assert same_percent(["a", "b", "c", "d"], ["a", "b ", "c", "D"]) == 50


async def test_a_cancelled_fill_holds_the_next_one_up_for_a_step_and_not_for_all_of_them(
    address: Address,
):
    step_s, num_steps = 0.04, 25
    launch = rule_engine_launch(text="value " * 40, step_seconds=step_s, num_steps=num_steps)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(client=client, address=address, options=FillOptions(), repeats=2)
        figures = {it.name: it for it in await measure_cancel(bench)}
    p50 = figures["cancel_writing_p50_ms"]
    assert f"{2 * CANCELS_A_HOLE} fills" in p50.method
    assert 1000 * step_s <= (figures["cancel_pass_ms"].value or 0) < 1000 * step_s * num_steps
    assert 0 <= (p50.value or 0) < 1000 * step_s * num_steps / 4
