"""Runs a soak: traffic of all clients, faults by a schedule, samples, and rest before and after."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from random import Random

import psutil
from editor_clients import SERVER
from engine_watch import until
from faults.ground import Ground
from rule_server import rule_server_command
from soak.asks import STUCK_AFTER_S, Asks
from soak.measures import Samples
from soak.schedule import Plan, schedule
from soak.soak_client import SoakClient
from soak.soak_faults import FAULTS, OF_THE_RULE_ENGINE, RULES
from soak.soaked import Rest, Soaked, at_rest, more_than
from soak.stage import PRODUCT_ROLES, RULE_ROLES, Stage
from soak.typist import Typist

SAMPLE_EVERY_S = 10.0
RULE_SERVER = rule_server_command(
    rules=RULES, text="value + other(row)", step_seconds=0.002, unsure=("other",)
)


class SoakRun:
    """One run on a ground. ``on_minute`` is called with what is known so far."""

    def __init__(
        self,
        plan: Plan,
        ground: Ground,
        environment: Mapping[str, str],
        on_minute: Callable[[Soaked], None] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._environment = environment
        self._on_minute = on_minute
        self._stopped = asyncio.Event()
        asks = Asks()
        command = SERVER if plan.uses_real_model else RULE_SERVER
        roles = PRODUCT_ROLES if plan.uses_real_model else RULE_ROLES
        clients = [
            SoakClient(it, ground, asks, command, has_rules=not plan.uses_real_model)
            for it in range(plan.num_clients)
        ]
        random = Random(f"victims {plan.seed}")
        self._stage = Stage(ground=ground, clients=clients, asks=asks, random=random, roles=roles)
        self._soaked = Soaked(
            plan=plan,
            asks=asks,
            clients=clients,
            samples=Samples(ground=ground, roles=roles, began_at=asks.began_at),
        )

    def stop(self) -> None:
        """Go on to the end now."""
        self._stopped.set()

    async def run(self) -> Soaked:
        """Run it all; the clients are shut down at the end, the engine is left."""
        soaked, asks = self._soaked, self._stage.asks
        await asyncio.gather(*(it.start(self._environment) for it in soaked.clients))
        watching = asyncio.ensure_future(self._watch())
        await self._traffic(0, lambda: self._wait(self._plan.warm_up_s))
        soaked.rest_before = await self._rest()
        soaked.began_s = asks.elapsed_s()
        await self._traffic(1, self._faults)
        soaked.ended_s = asks.elapsed_s()
        soaked.rest_after = await self._rest()
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        await asyncio.gather(*(it.end() for it in soaked.clients))
        return soaked

    async def _traffic(self, part: int, meanwhile: Callable[[], Awaitable[None]]) -> None:
        """Let all clients work meanwhile; then see that each document is in step."""
        seed = 2 * self._plan.seed + part
        typists = [Typist(it, seed, self._environment) for it in self._soaked.clients]
        working = [asyncio.ensure_future(it.run()) for it in typists]
        ending = asyncio.ensure_future(meanwhile())
        done, _ = await asyncio.wait([ending, *working], return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            await task  # a typist that ends before it is told to has failed
        for typist in typists:
            typist.stop()
        await asyncio.gather(*working)
        await asyncio.gather(*(self._until_in_step(it) for it in typists))

    async def _until_in_step(self, typist: Typist) -> None:
        deadline = time.monotonic() + STUCK_AFTER_S
        while not await typist.check_all():
            if time.monotonic() > deadline:
                self._soaked.out_of_step.append(f"client {typist.client.number}")
                return

    async def _faults(self) -> None:
        names = [
            name
            for name in FAULTS
            if not (self._plan.uses_real_model and name in OF_THE_RULE_ENGINE)
        ]
        began_s, happening = self._stage.asks.elapsed_s(), []
        for number, name in enumerate(schedule(names, self._plan)):
            if self._stopped.is_set():
                break
            self._soaked.happened.append((self._stage.asks.elapsed_s(), name))
            happening.append(asyncio.ensure_future(self._happen(name)))
            until_s = began_s + (number + 1) * self._plan.every_s
            await self._wait(until_s - self._stage.asks.elapsed_s())
            self._soaked.ended_s = self._stage.asks.elapsed_s()
            self._on_minute(self._soaked)
        await asyncio.gather(*happening)

    async def _happen(self, name: str) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):  # an earlier fault has ended the process
            await FAULTS[name](self._stage)

    async def _wait(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)

    async def _watch(self) -> None:
        """Sample the processes, and look for stuck requests."""
        while True:
            self._soaked.samples.take()
            deaf = frozenset(it.number for it in self._soaked.clients if it.is_deaf)
            self._stage.asks.find_stuck(deaf)
            await asyncio.sleep(SAMPLE_EVERY_S)

    async def _rest(self) -> Rest:
        """Return what processes hold at rest: no more than before, if that comes true at all."""
        before = self._soaked.rest_before
        found: Rest = {}

        async def is_as_before() -> bool:
            nonlocal found
            found = at_rest(self._soaked.samples.take())
            return not more_than(found, before)

        with contextlib.suppress(TimeoutError):
            await until(is_as_before, STUCK_AFTER_S)
        return found
