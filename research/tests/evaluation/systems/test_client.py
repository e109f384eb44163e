"""How a case is asked for: each as if it were the first."""

from sample_cases import case

from intarsia.infill.filling.options import FillOptions
from intarsia.infill.filling.plan import FillPlan
from intarsia.lsp.fill_options import options_of
from intarsia.lsp.settings import Settings
from intarsia.lsp.settings_in_force import resolve_settings
from intarsia_research.evaluation.systems.client import patient, plan_case, server_options


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
