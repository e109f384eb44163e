"""A variable is renamed key by key, and the time to the offers is measured."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from rule_engine import rule_engine_launch
from scripted_next_edits import rule

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia_research.benchmark import next_edit_wait
from intarsia_research.benchmark.editor.foreign_files import ForeignFile, foreign_files
from intarsia_research.benchmark.editor.renames import RenamePlace, rename_place
from intarsia_research.benchmark.figures import Bench
from intarsia_research.benchmark.next_edit_wait import measure_next_edit_wait

TEXT = """\
def pay(a):
    once = a
    cost = a + once
    if cost:
        print(cost)
    return a
"""
FILE = ForeignFile(package="rich", path=Path("pay.py"), text=TEXT)


def test_a_place_is_an_assigned_name_with_uses_below() -> None:
    end = TEXT.index("cost") + len("cost")
    assert rename_place(TEXT, random.Random(1)) == RenamePlace(name="cost", end=end)
    assert rename_place("x = 1\n", random.Random(1)) is None
    for package in ("rich", "fsspec"):
        files = foreign_files(package, 4)
        assert sum(rename_place(it.text, random.Random(1)) is not None for it in files) >= 2


@pytest.mark.parametrize(("after", "share"), [("if cost_all:", 100.0), ("if cost:", 0.0)])
async def test_the_wait_ends_with_the_search(
    address: Address, monkeypatch: pytest.MonkeyPatch, after: str, share: float
) -> None:
    files = {"rich": [FILE], "fsspec": [replace(FILE, text="x = 1\n")]}
    monkeypatch.setattr(next_edit_wait, "foreign_files", lambda package, count: files[package])
    launch = rule_engine_launch(text="", next_edits=[rule("if cost:", after)])
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.preload()
        bench = Bench(client=client, address=address, options=FillOptions(), repeats=1)
        found = await measure_next_edit_wait(bench, before_s=0.0)
    figures = {it.name: it for it in found}
    assert (figures["next_edit_wait_end_p50_ms"].value or 0) >= 400  # the pause before a search
    assert figures["next_edit_wait_offered_share"].value == share
    assert (figures["next_edit_wait_offer_p50_ms"].value is not None) == (share > 0)
    assert "1 renames, 0 with a suggestion" in figures["next_edit_wait_end_p95_ms"].method
