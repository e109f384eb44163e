"""What is typed is the file's own text, and every key is asked after; the figures are no test."""

import random

import pytest
from rule_engine import rule_engine_launch

from intarsia.cli.bench_sources import cut_lines
from intarsia.cli.bench_typing import measure_typing
from intarsia.cli.figures import Bench
from intarsia.cli.typing_keys import keys_of, typed_lines
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.filling.options import FillOptions


@pytest.mark.parametrize("number", range(6))
def test_the_keys_write_the_lines_with_every_slip_taken_back(number: int):
    line = cut_lines(6)[number]
    keys = list(keys_of(line, random.Random(number)))
    typed = ""
    for key in keys:
        typed = typed + key.text if key.text else typed[:-1]
    assert typed.rstrip() == typed_lines(line).rstrip()
    assert "\n" in typed
    assert keys == list(keys_of(line, random.Random(number)))


def test_some_keys_are_slips():
    keys = [key for line in cut_lines(6) for key in keys_of(line, random.Random(1))]
    assert any(not key.text for key in keys)


@pytest.mark.parametrize(("step_seconds", "are_answered"), [(0.0, True), (5.0, False)])
async def test_a_key_is_answered_or_overtaken(
    address: Address, step_seconds: float, are_answered: bool
):
    launch = rule_engine_launch(text="value", step_seconds=step_seconds)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(client=client, address=address, options=FillOptions(), repeats=1)
        figures = {it.name: it.value for it in await measure_typing(bench, pace=2)}
    assert (figures["typing_answered_share"] > 0) is are_answered
    assert figures["typing_prompt_share"] <= figures["typing_answered_share"]
