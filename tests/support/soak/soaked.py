"""What a soak has measured: answers, samples, faults, and what processes hold at rest."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from soak.asks import Asks
from soak.measures import Sample, Samples
from soak.schedule import Plan
from soak.soak_client import SoakClient
from soak.stage import RULE_ROLES

Rest = Mapping[str, tuple[int, int, int]]
"""Of each role at rest: the number of processes, and the most open files and threads of one."""

THREADS_OF_POOL = min(32, (os.cpu_count() or 1) + 4)
"""Of asyncio.to_thread at most (concurrent.futures)."""


@dataclass(kw_only=True, slots=True)
class Soaked:
    """What is known of a soak, in seconds since its clients began; faults began at ``began_s``."""

    plan: Plan
    asks: Asks
    samples: Samples
    clients: Sequence[SoakClient]
    began_s: float = 0.0
    ended_s: float = 0.0
    happened: list[tuple[float, str]] = field(default_factory=list)
    rest_before: Rest = field(default_factory=dict)
    rest_after: Rest = field(default_factory=dict)
    out_of_step: list[str] = field(default_factory=list)

    def checks(self) -> Counter[str]:
        """Return how often a text was compared, by what came out."""
        return sum((it.checks for it in self.clients), Counter[str]())


def at_rest(samples: Sequence[Sample]) -> Rest:
    """Return the number of processes of each role, and the most files and threads of one."""
    found = {}
    for role in RULE_ROLES:
        mine = [it for it in samples if it.role == role]
        files = max((it.num_files for it in mine), default=0)
        threads = max((it.num_threads for it in mine), default=0)
        found[role] = (len(mine), files, threads)
    return found


def more_than(after: Rest, before: Rest) -> list[str]:
    """Return what there is more of after than before; nothing where it was not measured yet.

    Threads for long work are started when they are needed, and kept: up to a number.
    """
    things = {"processes": 0, "open files": 0, "threads": THREADS_OF_POOL}
    return [
        f"{role}: {new} {thing}, {old} before"
        for role in before.keys() & after.keys()
        for (thing, more), new, old in zip(things.items(), after[role], before[role], strict=True)
        if new > old + more
    ]
