"""The budget for code of other files."""

import pytest

from intarsia.engine.ipc.context_budget import context_budget


@pytest.mark.parametrize(
    ("tokens_per_s", "budget"),
    [(None, 500), (1.0, 150), (600.0, 540), (1_100.0, 990), (90_000.0, 4_000)],
)
def test_it_is_what_is_read_in_nine_tenths_of_a_second(
    tokens_per_s: float | None, budget: int
) -> None:
    assert context_budget(tokens_per_s) == budget
