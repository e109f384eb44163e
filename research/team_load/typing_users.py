"""When the users of a team ask for suggestions, drawn from a seed. Knows no engine."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SPREAD = 0.35  # standard deviation of the logarithm of the time between two keys


@dataclass(frozen=True, kw_only=True, slots=True)
class Habits:
    """How a user types. All but ``keys_per_second`` are assumptions: no typing was recorded.

    Keys come in bursts; an editor asks after a key that ``debounce_s`` has passed since. A share of
    these is answered without the engine: the user types the shown text, or is back at an old place.
    """

    keys_per_second: float = 5.0
    keys_in_burst: float = 8.0  # mean
    pause_s: float = 3.7  # mean, between two bursts
    debounce_s: float = 0.075
    answered_locally: float = 0.45
    place_s: float = 45.0  # between two places that the engine has not read


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """One request. At a halt the user looks for its answer; else the next key may cancel it."""

    at_s: float
    user: int
    place: int  # the user's places are numbered
    num_typed: int  # characters at this place
    is_halt: bool


def asks_of(num_users: int, seconds: float, habits: Habits, seed: int = 0) -> Sequence[Ask]:
    """Return the requests of all users in the order of their times."""
    asks = [ask for user in range(num_users) for ask in _asks_of_user(user, seconds, habits, seed)]
    return sorted(asks, key=lambda ask: (ask.at_s, ask.user))


def _asks_of_user(user: int, seconds: float, habits: Habits, seed: int) -> Iterator[Ask]:
    chosen = random.Random(f"{seed} {user}")
    now = chosen.random() / habits.keys_per_second * 25  # not all begin at once
    place, num_typed, next_place_s = 0, 0, now + chosen.random() * habits.place_s
    while now < seconds:
        if now >= next_place_s:
            place, num_typed = place + 1, 0
            next_place_s = now + habits.place_s * (0.5 + chosen.random())
        num_keys = max(1, round(chosen.expovariate(1 / habits.keys_in_burst)))
        for left in reversed(range(num_keys)):
            gap_s = chosen.lognormvariate(0.0, _SPREAD) / habits.keys_per_second
            num_typed += 1
            is_asked = gap_s >= habits.debounce_s and chosen.random() >= habits.answered_locally
            if left == 0 or is_asked:
                yield Ask(
                    at_s=now,
                    user=user,
                    place=place,
                    num_typed=num_typed,
                    is_halt=left == 0,
                )
            now += gap_s
        now += chosen.expovariate(1 / habits.pause_s)
