"""A team's engine, simulated: which fill runs when, by the engine's own rules and measured costs.

One fill makes a pass at a time. A long one is suspended for a short one, as by the engine's worker.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.engine.service.scheduler import Scheduler
from intarsia.engine.service.usual_times import UsualTimes
from intarsia.engine.service.worker import MAX_SUSPENDED, MAX_SUSPENDED_FOR_SHORT, TIME_SLICE_S
from intarsia_research.team_load.costs import EngineCosts
from intarsia_research.team_load.typing_users import Ask
from intarsia_research.team_load.waits import Waits


@dataclass(kw_only=True, slots=True, eq=False)
class _Fill:
    """A fill on its way. Chunks and passes are what is left of it; times are in milliseconds."""

    ask: Ask
    is_new_place: bool
    chunks: list[float]
    passes: list[float]
    run_ms: float = 0.0
    slice_ms: float = 0.0
    is_superseded: bool = False
    must_go_on: bool = False  # it has just been resumed, and makes a pass now


def simulate(asks: Sequence[Ask], costs: EngineCosts, seed: int = 0) -> Waits:
    """Return the users' waits at an engine with these costs."""
    return _Simulation(asks, costs, seed).run()


class _Simulation:
    def __init__(self, asks: Sequence[Ask], costs: EngineCosts, seed: int) -> None:
        self._coming = list(reversed(asks))  # the next one comes last
        self._costs = costs
        self._chosen = random.Random(seed)
        self._now_ms = 0.0
        self._busy_ms = 0.0
        self._waiting = Scheduler[_Fill]()
        self._running: list[_Fill] = []  # all but the last are suspended
        self._newest: dict[int, _Fill] = {}  # by user
        self._places: dict[int, int] = {}  # that were read, by user
        self._usual_times = UsualTimes()
        self._waits = Waits()

    def run(self) -> Waits:
        while True:
            self._admit()
            fill = self._next()
            if fill is not None:
                self._make_a_pass(fill)
            elif self._coming:
                self._now_ms = max(self._now_ms, 1000 * self._coming[-1].at_s)
            else:
                break
        self._waits.busy_share = self._busy_ms / max(1.0, self._now_ms)
        return self._waits

    def _admit(self) -> None:
        """Take what has arrived. A newer request of a user takes the place of the older one."""
        while self._coming and 1000 * self._coming[-1].at_s <= self._now_ms:
            ask = self._coming.pop()
            is_new = self._places.get(ask.user) != ask.place
            cost = self._costs.drawn(self._chosen, is_new_place=is_new)
            chunks = list(cost.chunks_ms)
            if (older := self._newest.get(ask.user)) is not None:
                older.is_superseded = True
                self._waiting.remove(older)
                self._waits.num_unanswered += older.ask.is_halt
                if older.ask.place == ask.place:
                    chunks = list(older.chunks)  # what it has read is held
            fill = _Fill(ask=ask, is_new_place=is_new, chunks=chunks, passes=list(cost.passes_ms))
            self._newest[ask.user] = fill
            self._waiting.add(ask.user, fill)

    def _next(self) -> _Fill | None:
        """Return the fill that makes the next pass."""
        while self._running and self._running[-1].is_superseded:
            self._end_last()
        if not self._running:
            if (fill := self._waiting.pop()) is None:
                return None
            self._running.append(fill)
        elif not self._running[-1].must_go_on and (other := self._better()) is not None:
            self._running[-1].must_go_on = True
            self._running.append(other)
        return self._running[-1]

    def _better(self) -> _Fill | None:
        """Return a waiting fill that the running one is suspended for."""
        running = self._running[-1]

        def is_shorter(other: _Fill) -> bool:
            run_s = running.run_ms / 1000
            return self._usual_times.is_shorter(other.ask.user, running.ask.user, run_s)

        def is_not_much_longer(other: _Fill) -> bool:
            return not self._usual_times.is_much_longer(other.ask.user, running.ask.user)

        depth = len(self._running)
        short = self._waiting.pop(is_shorter) if depth <= MAX_SUSPENDED_FOR_SHORT else None
        is_slice_over = running.slice_ms >= 1000 * TIME_SLICE_S
        if short is None and is_slice_over and depth <= MAX_SUSPENDED:
            return self._waiting.pop(is_not_much_longer)
        return short

    def _make_a_pass(self, fill: _Fill) -> None:
        units = fill.chunks or fill.passes
        unit_ms = units.pop(0) if units else 0.0
        self._now_ms += unit_ms
        self._busy_ms += unit_ms
        fill.run_ms += unit_ms
        fill.slice_ms += unit_ms
        fill.must_go_on = False
        if fill.chunks or fill.passes:
            return
        self._places[fill.ask.user] = fill.ask.place
        self._usual_times.note(fill.ask.user, fill.run_ms / 1000)
        if not fill.is_superseded:
            del self._newest[fill.ask.user]
            if fill.ask.is_halt:
                ms = self._now_ms - 1000 * fill.ask.at_s
                self._waits.add(ms, is_new_place=fill.is_new_place)
        self._end_last()

    def _end_last(self) -> None:
        """Resume the fill that was suspended last."""
        self._running.pop()
        if self._running:
            self._running[-1].slice_ms = 0.0
