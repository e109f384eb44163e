"""Users who type at once: the same keys for everyone each time, one figure for each question."""

import itertools
import random

import pytest
from rule_engine import rule_engine_launch

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark.editor.sources import cut_lines
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.users import FEWEST_KEYS, MOST_KEYS, keys_of, measure_users


@pytest.mark.parametrize("number", range(4))
def test_the_same_keys_are_typed_each_time_with_a_halt_after_some_of_them(number: int):
    line = cut_lines(4)[number]
    keys = list(keys_of(line, random.Random(number), 20))
    assert keys == list(keys_of(line, random.Random(number), 20))
    assert all(0 < key.num_typed < line.end - line.start for key in keys)
    assert sum(key.is_halt for key in keys) == 20
    assert keys[-1].is_halt
    halts = [-1, *(at for at, key in enumerate(keys) if key.is_halt)]
    between = {after - before for before, after in itertools.pairwise(halts)}
    assert between <= set(range(FEWEST_KEYS, MOST_KEYS + 1))
    assert len(between) > 1


async def test_four_users_of_a_busy_engine_wait_longer_than_each_alone(address: Address):
    launch = rule_engine_launch(text="value", step_seconds=0.05, num_steps=2)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(client=client, address=address, options=FillOptions(), repeats=3)
        figures = {it.name: it.value for it in await measure_users(bench, pace=20)}
    assert len(figures) == 3 * 3 + 4 * 3 + 3
    assert figures["users_1_p50_ms"] >= 100
    assert figures["users_4_p50_ratio"] > 1.2
    assert 1 <= figures["users_4_worst_to_best"] < 10
