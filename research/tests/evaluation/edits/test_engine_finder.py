"""Cases asked of an engine, by the product's own steps; rules take the model's place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from edit_runs import edit_case, hunk
from in_process_engine import always, in_process_engine
from rule_engine import rule_engine_launch
from rule_filler import RuleFiller
from scripted_next_edits import BALANCED, BOLD, NOT_SHOWN, find_by_rules, rule

from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import FindNextEdits, NextEdits
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.edits.edit_record import EditRow
from intarsia_research.evaluation.edits.engine_finder import EngineFinder, EngineFinderSystem
from intarsia_research.evaluation.edits.run_edits import AskingWay, run_edits

CASE = edit_case(hunk(8, 1, "new 8"), hunk(11, 1, "new 11"), hunk(14, 1, "new 14"))


@pytest.fixture
def ready(runtime: Address):
    """Start an engine with rules, and return a finder that asks it."""

    @asynccontextmanager
    async def start(*rules, max_places=2, **options) -> AsyncIterator[EngineFinder]:
        launch = rule_engine_launch(next_edits=rules, **options)
        async with EngineClient(name="test", launch=launch, address=runtime) as client:
            await client.status()
            system = EngineFinderSystem(max_places=max_places, address=runtime)
            async with system.ready() as finder:
                yield finder
            await client.stop()

    return start


async def row_of(finder, case=CASE, directions=("below", "above")) -> EditRow:
    rows: list[EditRow] = []
    way = AskingWay(directions=directions)
    await run_edits([case], finder, way=way, on_case=lambda *_: None, on_row=rows.append)
    return rows[0]


async def test_offers_are_found_judged_and_followed(ready) -> None:
    async with ready(rule("line 11", "new 11"), rule("line 14", "new 14")) as finder:
        row = await row_of(finder)
    assert [step.put_in for step in row.steps] == [(0,), (0, 1)]
    first = row.first
    assert first.in_window == (1, 2)
    assert [(it.first_line, it.new_text, it.level) for it in first.places] == [
        (11, "new 11\n", "sure"),
        (14, "new 14\n", "sure"),
    ]
    assert all(it.is_exact for step in row.steps for it in step.places)
    assert (first.line, first.line_hunks) == (11, (1,))
    assert first.ms > 0 and first.cpu_s is not None and first.cpu_s >= 0


async def test_the_text_before_the_edit_is_read_first(runtime: Address) -> None:
    asked: list[FindNextEdits] = []

    def find(request: FindNextEdits, control: FillControl) -> NextEdits:
        asked.append(request)
        return find_by_rules([])(request, control)

    filler = RuleFiller(lambda _: "", find=find)
    async with (
        in_process_engine(runtime, always(filler)),
        EngineFinderSystem(max_places=3, address=runtime).ready() as finder,
    ):
        await row_of(finder)
    first_ever, read, *questions = asked
    assert first_ever.example is None and read.example is None
    assert "".join(part.after for part in read.parts) == CASE.before
    assert [it.direction for it in questions] == ["below", "above"]
    assert all(it.example and it.max_places == 3 for it in questions)


async def test_the_show_rule_of_the_product_decides_the_level(ready) -> None:
    rules = [rule("line 11", "odd", NOT_SHOWN), rule("line 14", "new 14", BOLD)]
    async with ready(*rules) as finder:
        first = (await row_of(finder, directions=("below",))).first
    assert [(it.new_text, it.level) for it in first.places] == [
        ("new 14\n", "bold"),
        ("odd\n", None),
    ]
    assert first.offer("balanced") is None
    offer = first.offer("bold")
    assert offer is not None and offer.is_exact


async def test_above_is_asked_unless_there_is_a_sure_offer_below(ready) -> None:
    above = rule("line 2", "line odd")
    async with ready(rule("line 11", "new 11"), above) as finder:
        assert [it.first_line for it in (await row_of(finder)).first.places] == [11]
    async with ready(rule("line 11", "new 11", BALANCED), above) as finder:
        first = (await row_of(finder)).first
    assert [(it.first_line, it.level) for it in first.places] == [(11, "balanced"), (2, "sure")]
    sure, bold = first.offer("sure"), first.offer("bold")
    assert sure is not None and not sure.hunks
    assert bold is not None and bold.is_exact


async def test_an_edit_that_is_none_to_the_product_is_asked_nothing(ready) -> None:
    large = edit_case(hunk(1, 1, *(f"new {n}" for n in range(9))), hunk(11, 1, "new 11"))
    async with ready(rule("line 11", "new 11")) as finder:
        first = (await row_of(finder, large)).first
    assert (first.places, first.is_failure) == ((), False)
    assert first.reason == "more than 6 lines have changed"
    assert first.in_window == (1,)  # so it counts as an edit without an offer


async def test_a_model_that_cannot_find_next_edits_ends_the_evaluation(runtime: Address) -> None:
    launch = rule_engine_launch(text="1")
    async with EngineClient(name="test", launch=launch, address=runtime) as client:
        await client.status()
        with pytest.raises(EvaluationFault):
            async with EngineFinderSystem(max_places=2, address=runtime).ready():
                pass
