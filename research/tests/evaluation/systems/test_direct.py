"""Cases asked of the engine straight: each as if it were the first; its faults."""

import pytest
from rule_engine import rule_engine_launch
from sample_cases import case

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan
from intarsia.lsp.fill_options import options_of
from intarsia.lsp.settings import Settings
from intarsia.lsp.settings_in_force import resolve_settings
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.systems.client import patient, plan_case, server_options
from intarsia_research.evaluation.systems.direct import Direct


async def start(address: Address, **options: object) -> None:
    launch = rule_engine_launch(**options)  # type: ignore[arg-type]
    async with EngineClient(name="test", launch=launch, address=address) as client:
        await client.status()


async def test_options_that_no_editor_has_are_used_and_told(runtime: Address) -> None:
    await start(runtime, text="a + b + c", num_steps=4)
    direct = Direct(FillOptions(max_steps=2, seed=3), name="short", address=runtime)
    async with direct.ready() as client:
        answer = await client.fill(case("y = "))
    assert answer.num_forwards == 2 * 2  # what is cut short does not hold: a second look is taken
    assert (client.info.name, client.info.way) == ("short", "direct")
    assert {"max_steps": "2", "seed": "3"}.items() <= client.info.details.items()


async def test_a_model_that_is_none_ends_the_evaluation(runtime: Address) -> None:
    await start(runtime, text="1")
    with pytest.raises(EvaluationFault, match="no model 'missing'"):
        async with Direct(FillOptions(model="missing"), address=runtime).ready():
            pass


async def test_a_hole_that_the_engine_refuses_is_a_failure(runtime: Address) -> None:
    await start(runtime, text="1")
    async with Direct(FillOptions(max_tokens=-1), address=runtime).ready() as client:
        answer = await client.fill(case("y = "))
    assert (answer.text, answer.is_failure) == ("", True)
    assert answer.reason is not None
    assert "max_tokens must be 1 or more" in answer.reason


def is_fresh(options: FillOptions) -> bool:
    plan = plan_case(case("y = "), options)
    assert isinstance(plan, FillPlan)
    return plan.request(options).fresh


def test_no_case_starts_from_the_answer_to_another() -> None:
    asked = patient(FillOptions())
    settings, problems = resolve_settings(server_options(asked))
    assert problems == ()
    assert is_fresh(asked)
    assert is_fresh(options_of(settings, 1_000))


def test_what_a_user_types_does() -> None:
    assert not is_fresh(FillOptions())
    assert not is_fresh(options_of(Settings(), 1_000))
