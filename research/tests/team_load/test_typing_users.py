"""When users ask: drawn from a seed, with halts at the ends of bursts."""

import itertools

from intarsia_research.team_load.typing_users import Habits, asks_of


def test_the_same_seed_gives_the_same_requests() -> None:
    assert asks_of(3, 60, Habits(), seed=1) == asks_of(3, 60, Habits(), seed=1)
    assert asks_of(3, 60, Habits(), seed=1) != asks_of(3, 60, Habits(), seed=2)


def test_a_user_does_not_change_with_the_number_of_users() -> None:
    two, three = asks_of(2, 60, Habits()), asks_of(3, 60, Habits())
    assert list(two) == [ask for ask in three if ask.user < 2]


def test_users_type_on_and_go_to_new_places() -> None:
    asks = [ask for ask in asks_of(1, 600, Habits(place_s=60)) if ask.user == 0]
    places = [ask.place for ask in asks]
    assert places == sorted(places)
    assert 6 <= places[-1] <= 14
    for before, after in itertools.pairwise(asks):
        assert before.at_s < after.at_s
        assert before.place < after.place or before.num_typed < after.num_typed


def test_about_one_request_a_second_reaches_the_engine() -> None:
    asks = asks_of(20, 600, Habits())
    assert 0.7 <= len(asks) / 20 / 600 <= 1.1
    assert all(ask.is_halt for ask in asks_of(2, 60, Habits(answered_locally=1.0)))
