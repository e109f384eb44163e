"""A server that joins the passes of several users, as vLLM does: simulated from assumed costs."""

import random
from collections.abc import Sequence

from intarsia_research.team_load.costs import EngineCosts
from intarsia_research.team_load.typing_users import Ask
from intarsia_research.team_load.waits import Waits


def simulate_batches(
    asks: Sequence[Ask], costs: EngineCosts, num_lanes: int, seed: int = 0
) -> Waits:
    """Return the users' waits where ``num_lanes`` fills make a pass together.

    The fills that were served least recently go first; a pass takes as long as its slowest part.
    """
    chosen = random.Random(seed)
    coming = list(reversed(asks))
    filling: dict[int, tuple[Ask, bool, list[float]]] = {}  # by user, served least recently first
    places: dict[int, int] = {}
    waits, now_ms, busy_ms = Waits(), 0.0, 0.0
    while coming or filling:
        if not filling:
            now_ms = max(now_ms, 1000 * coming[-1].at_s)
        while coming and 1000 * coming[-1].at_s <= now_ms:
            ask = coming.pop()
            older = filling.get(ask.user)
            waits.num_unanswered += older is not None and older[0].is_halt
            is_new = places.get(ask.user) != ask.place
            cost = costs.drawn(chosen, is_new_place=is_new)
            filling[ask.user] = (ask, is_new, [*cost.chunks_ms, *cost.passes_ms])
        step_ms = 0.0
        for user in list(filling)[:num_lanes]:
            ask, is_new, units = filling.pop(user)
            step_ms = max(step_ms, units.pop(0))
            filling[user] = (ask, is_new, units)
        now_ms += step_ms
        busy_ms += step_ms
        for user in [user for user, (_, _, units) in filling.items() if not units]:
            ask, is_new, _ = filling.pop(user)
            places[user] = ask.place
            if ask.is_halt:
                waits.add(now_ms - 1000 * ask.at_s, is_new_place=is_new)
    waits.busy_share = busy_ms / max(1.0, now_ms)
    return waits
