"""Typing users at a real engine of this machine: what they wait for, beside the simulation."""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from intarsia.engine.ipc.messages import Filled
from intarsia_research.benchmark.hardware.machine import describe_machine
from intarsia_research.errors import EvaluationFault
from intarsia_research.team_load.costs import EngineCosts, cost_of
from intarsia_research.team_load.simulated_engine import simulate
from intarsia_research.team_load.team_engine import TeamEngineProcess, team_engine
from intarsia_research.team_load.typed_files import TypedFiles
from intarsia_research.team_load.typing_users import Ask, Habits, asks_of
from intarsia_research.team_load.waits import Waits


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadOptions:
    """``num_users`` type for ``seconds``; before that one user does, for the costs."""

    model: str
    num_users: int
    seconds: float
    seed: int = 0
    habits: Habits = field(default_factory=Habits)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadFigures:
    """What the users of the real engine waited for, and those of the simulated one."""

    costs: EngineCosts
    real: Waits
    simulated: Waits
    tokens_a_user: float
    bytes_a_user: float  # of the process's memory, beyond that of the loaded model


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answered:
    ask: Ask
    is_new_place: bool
    ms: float
    filled: Filled


@dataclass(kw_only=True, slots=True)
class _Typing:
    """Users at an engine. The requests of one that are unanswered at its next one are cancelled."""

    engine: TeamEngineProcess
    files: TypedFiles
    answered: list[_Answered] = field(default_factory=list)
    num_unanswered: int = 0
    _places: dict[int, int] = field(default_factory=dict)

    async def type(self, asks: Sequence[Ask]) -> None:
        begun = time.perf_counter()
        users = {ask.user for ask in asks}
        async with asyncio.TaskGroup() as group:
            for user in users:
                own = [ask for ask in asks if ask.user == user]
                group.create_task(self._type_one(own, begun))

    async def _type_one(self, asks: Sequence[Ask], begun: float) -> None:
        asking: asyncio.Task[None] | None = None
        for ask in asks:
            await asyncio.sleep(max(0.0, begun + ask.at_s - time.perf_counter()))
            if asking is not None and not asking.done():
                asking.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await asking
            asking = asyncio.create_task(self._ask(ask))
        if asking is not None:
            await asking

    async def _ask(self, ask: Ask) -> None:
        request = self.files.request(ask)
        if request is None:
            return
        is_new = self._places.get(ask.user) != ask.place
        started = time.perf_counter()
        try:
            filled = await self.engine.fill(ask.user, request)
        except asyncio.CancelledError:
            self.num_unanswered += ask.is_halt
            raise
        self._places[ask.user] = ask.place
        ms = 1000 * (time.perf_counter() - started)
        self.answered.append(_Answered(ask=ask, is_new_place=is_new, ms=ms, filled=filled))


async def measure_load(options: LoadOptions) -> LoadFigures:
    """Measure one user, then all, then simulate all with the one's costs.

    Raises EvaluationFault if the engine fails, or the time was too short for any costs.
    """
    async with team_engine(options.model, options.num_users + 1) as engine:
        files = TypedFiles(options.seed)
        empty = await engine.gauges()
        alone = _Typing(engine=engine, files=files)
        first = options.num_users  # a user of its own: the others' contexts are not read before
        asks = asks_of(options.num_users + 1, options.seconds, options.habits, options.seed)
        await alone.type([ask for ask in asks if ask.user == first])
        costs = _costs_of(alone.answered)
        together = _Typing(engine=engine, files=files)
        those = [ask for ask in asks if ask.user != first]
        await together.type(those)
        after = await engine.gauges()
    num_users = after["intarsia_users_with_contexts"]
    grown = after["intarsia_resident_bytes"] - empty["intarsia_resident_bytes"]
    return LoadFigures(
        costs=costs,
        real=_waits_of(together),
        simulated=simulate(those, costs, options.seed),
        tokens_a_user=after["intarsia_cached_tokens"] / num_users,
        bytes_a_user=grown / num_users,
    )


def _costs_of(answered: Sequence[_Answered]) -> EngineCosts:
    warm = tuple(cost_of(it.filled) for it in answered if not it.is_new_place)
    new = tuple(cost_of(it.filled) for it in answered if it.is_new_place)
    if not warm or not new:
        raise EvaluationFault("one user asked too seldom for costs: take more seconds")
    return EngineCosts(machine=describe_machine(), warm=warm, new_place=new)


def _waits_of(typing: _Typing) -> Waits:
    waits = Waits(num_unanswered=typing.num_unanswered)
    for it in typing.answered:
        if it.ask.is_halt:
            waits.add(it.ms, is_new_place=it.is_new_place)
    return waits
