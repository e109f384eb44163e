"""Five minutes of ``make soak``: eight clients at work, and a fault every half minute."""

import pytest
from faults.ground import Ground
from soak.schedule import Plan
from soak.soak_run import SoakRun
from soak.verdict import criteria

PLAN = Plan(seconds=300, every_s=30, warm_up_s=20)


@pytest.mark.timeout(1_200)
async def test_all_requests_are_answered_no_text_differs_and_nothing_is_left(
    ground: Ground,
) -> None:
    """Speed and the growth of memory are judged by the whole hour only."""
    soaked = await SoakRun(PLAN, ground, ground.environment()).run()
    failed = [it for it in criteria(soaked) if not (it.holds or it.needs_hour)]
    assert failed == []
    assert soaked.checks()["same"] > 100
