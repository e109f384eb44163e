"""What a soak's faults act on: the processes of the ground, and its clients."""

import asyncio
import contextlib
import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import psutil
from faults.ground import Ground
from soak.asks import Asks
from soak.soak_client import SoakClient

Roles = Mapping[str, str]
"""A word in the commands of the processes, by what they are."""

RULE_ROLES: Roles = {
    "engine": "rule_engine.py",
    "server": "rule_server.py",
    "index": "intarsia.workspace",
}
PRODUCT_ROLES: Roles = {**RULE_ROLES, "engine": "intarsia.engine", "server": "intarsia.lsp"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """``random`` draws the victims. The first half of the clients is never killed."""

    ground: Ground
    clients: Sequence[SoakClient]
    asks: Asks
    random: Random
    roles: Roles

    def processes(self, role: str) -> list[psutil.Process]:
        """Return the running processes of a role: two engines while one is replaced."""
        return self.ground.processes(self.roles[role])

    def signal(self, processes: Iterable[psutil.Process], number: int) -> None:
        """Send a signal to those that still run."""
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)

    async def pause(self, processes: Sequence[psutil.Process], seconds: float) -> None:
        """Stop processes for a while."""
        self.signal(processes, signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.signal(processes, signal.SIGCONT)

    async def limit(
        self, processes: Sequence[psutil.Process], what: int, most: int, seconds: float
    ) -> None:
        """Put processes under a limit of the system for a while; ``what`` as in ``resource``."""
        before = {}
        for process in processes:
            with contextlib.suppress(psutil.Error):
                before[process] = process.rlimit(what)
                process.rlimit(what, (most, before[process][1]))
        await asyncio.sleep(seconds)
        for process, limits in before.items():
            with contextlib.suppress(psutil.Error):
                process.rlimit(what, limits)

    def mortal(self) -> SoakClient:
        """Draw a client that may be killed."""
        return self.random.choice(self.clients[len(self.clients) // 2 :])

    def anyone(self) -> SoakClient:
        """Draw a client."""
        return self.random.choice(self.clients)
