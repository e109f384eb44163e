"""Finished code is typed as it is, and every offer in it is counted once and judged."""

import random
from dataclasses import replace

import pytest
from rule_engine import rule_engine_launch
from scripted_next_edits import BALANCED, rule

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark import next_edits
from intarsia_research.benchmark.editor.finished_code import FinishedStretch, finished_stretches
from intarsia_research.benchmark.editor.typing_keys import keys_of_text
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.next_edits import is_right, measure_next_edits, replaced

STRETCH = FinishedStretch(
    path="shop.py",
    language="python",
    before="cost = 1\n",
    typed="def pay(a):\n    return a + cost",
    after="total = pay(2)\n",
)


def test_stretches_are_of_many_languages_and_keep_their_files() -> None:
    stretches = finished_stretches(12)
    assert stretches == finished_stretches(12)
    assert len({it.language for it in stretches}) >= 10
    assert len({it.path for it in stretches}) == 12
    for number, stretch in enumerate(stretches):
        assert 1 <= stretch.typed.count("\n") < 40 and not stretch.typed.endswith("\n")
        assert stretch.before.endswith("\n")
        assert bool(stretch.after) == (number % 2 == 0)


def test_the_keys_write_the_stretch() -> None:
    for stretch in finished_stretches(5):
        typed = ""
        for key in keys_of_text(stretch.typed, random.Random(1)):
            typed = typed + key.text if key.text else typed[:-1]
        assert typed == stretch.typed


@pytest.mark.parametrize(
    ("typed", "after", "is_so"),
    [
        ("def pay(a):", "cost = 1\ndef pay(a):\n    return a + cost\ntotal = pay(2)\n", True),
        ("def pax", "cost = 1\ndef pay(a):\ntotal = pay(2)\n", True),
        ("def pay(a):", "cost = 2\ndef pay(a):\ntotal = pay(2)\n", False),
        ("def pay(a):", "cost = 1\ndef pay(a):\ntotal = pay(3)\n", False),
        ("def pay(a):", "cost = 1\ndef pay(b):\ntotal = pay(2)\n", False),
        ("def pay(a):", "cost = 1\n\ntotal = pay(2)\n", False),
        ("def pay(a):", "cost = 1\ntotal = pay(2)\n", False),
        ("def pay(a):", "cost = 1\ndef pay(a):\n    return a\ntotal = pay(2)\n", False),
    ],
)
def test_an_offer_is_right_if_it_writes_what_is_typed_next(
    typed: str, after: str, is_so: bool
) -> None:
    assert is_right(after, STRETCH, typed) is is_so


def test_ranges_count_in_utf_16() -> None:
    where = {"start": {"line": 1, "character": 3}, "end": {"line": 1, "character": 4}}
    assert replaced("a\n𝄞bc\nd\n", where, "X") == "a\n𝄞bX\nd\n"
    end = {"line": 3, "character": 0}
    assert replaced("a\nb\nc\n", {"start": end, "end": end}, "d\n") == "a\nb\nc\nd\n"


async def test_offers_are_counted_once_at_their_level_and_at_bolder_ones(
    address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    stretch = replace(STRETCH, after="total = pay(2)\nother = pay(4)\n")
    monkeypatch.setattr(next_edits, "finished_stretches", lambda count: [stretch])
    monkeypatch.setattr(next_edits, "FURTHER_S", 0.5)
    rules = [rule("total = pay(2)", "total = 3"), rule("other = pay(4)", "other = 5", BALANCED)]
    launch = rule_engine_launch(text="", next_edits=rules)
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(client=client, address=address, options=FillOptions(), repeats=1)
        figures = {it.name: it for it in await measure_next_edits(bench)}
    settled = figures["next_edits_settled_per_hour"]
    assert (settled.value or 0) > 0
    for level, words in (
        ("sure", "1 offers, 1 false"),
        ("balanced", "2 offers, 2 false"),
        ("bold", "2 offers, 2 false"),
    ):
        assert words in figures[f"next_edits_false_{level}_per_hour"].method
