"""The simulated engines: users alone wait for their own fills, and for others by the rules."""

import pytest

from intarsia_research.team_load.costs import EngineCosts, FillCost
from intarsia_research.team_load.simulated_batches import simulate_batches
from intarsia_research.team_load.simulated_engine import simulate
from intarsia_research.team_load.typing_users import Ask, Habits, asks_of


def costs(num_chunks: int = 20, num_passes: int = 2) -> EngineCosts:
    def cost(chunks: int) -> FillCost:
        return FillCost(num_chunks=chunks, chunk_ms=50, num_passes=num_passes, pass_ms=30)

    return EngineCosts(machine="", warm=(cost(0),), new_place=(cost(num_chunks),))


def ask(at_s: float, user: int, place: int = 0, *, is_halt: bool = True) -> Ask:
    return Ask(at_s=at_s, user=user, place=place, num_typed=0, is_halt=is_halt)


@pytest.mark.parametrize("num_lanes", [None, 1, 4])
def test_a_user_alone_waits_for_the_own_fills(num_lanes: int | None) -> None:
    asks = [ask(0, 0), ask(5, 0), ask(10, 0, place=1)]
    waits = (
        simulate(asks, costs())
        if num_lanes is None
        else simulate_batches(asks, costs(), num_lanes=num_lanes)
    )
    assert (waits.warm_ms, waits.new_place_ms) == ([60], [1_060, 1_060])
    assert waits.busy_share == pytest.approx(2.18 / 11.06)


def test_a_newer_request_takes_the_place_of_the_older() -> None:
    asks = [ask(0, 0), ask(0.5, 0)]
    waits = simulate(asks, costs())
    assert (waits.num_unanswered, waits.unanswered_share) == (1, 0.5)
    assert waits.new_place_ms == [560], "half of the context is read already"
    assert simulate_batches(asks, costs(), 8).num_unanswered == 1


def test_at_another_place_nothing_is_read_yet() -> None:
    assert simulate([ask(0, 0), ask(0.5, 0, place=1)], costs()).new_place_ms == [1_060]


def test_a_short_fill_goes_between_two_chunks_of_a_long_one() -> None:
    """The first user's fills are known to be long, and the second one's to be short."""
    before = [ask(0, 0), ask(5, 1), ask(10, 1), ask(15, 1)]
    waits = simulate([*before, ask(30, 0, place=1), ask(30.07, 1)], costs(num_chunks=40))
    assert waits.warm_ms[-1] == pytest.approx(60 + 30)  # the running chunk ends first
    assert waits.new_place_ms[-1] == pytest.approx(2_060 + 60)


def test_a_long_fill_waits_for_the_time_slice_of_another() -> None:
    waits = simulate([ask(0, 0), ask(0.01, 1)], costs(num_chunks=40))
    assert sorted(waits.new_place_ms) == pytest.approx([500 + 2_060 - 10, 2 * 2_060])


def test_lanes_run_together() -> None:
    asks = [ask(0, user) for user in range(4)]
    assert simulate_batches(asks, costs(), 4).new_place_ms == [1_060] * 4
    assert max(simulate_batches(asks, costs(), 2).new_place_ms) == 2 * 1_060


def test_more_users_wait_longer() -> None:
    few, many = (simulate(asks_of(count, 300, Habits()), costs()) for count in (1, 12))
    assert sum(few.warm_ms) / len(few.warm_ms) < sum(many.warm_ms) / len(many.warm_ms)
    assert (few.busy_share or 0) < (many.busy_share or 0)
