"""What a soak measures: answers, processes, faults. And its verdict on these."""

import asyncio
import contextlib
import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import psutil
from faults.ground import Ground
from pygls.exceptions import JsonRpcException

ROLES = {"engine": "rule_engine.py", "server": "rule_server.py", "index": "intarsia.workspace"}
"""A word in the commands of the processes, by what they are."""

NO_SUGGESTION = "no suggestion: "
STUCK_AFTER_S = 120.0
"""The product's own waits, added up: a deadline of 20 s, 3 s of grace, a minute for an engine that
may be starved, and 30 s in which another one starts. No answer until then is a stuck request."""
MAX_P99_RATIO = 1.2
MAX_GROWTH = 0.05
"""Share of its memory by which a process may grow in an hour, where noise does not hide it."""
SETTLES_S = 300.0
"""In this time the allocators and caches of a new process fill: it is left out."""
FEWEST_MINUTES = 4
THREADS_OF_POOL = 36
"""Threads for long work are started when they are needed, and kept: so many more are no leak."""


class Answer(NamedTuple):
    """``outcome``: text, nothing, cancelled, stuck, lost with its server, or an error's message."""

    client: int
    asked_s: float  # since the soak began
    took_s: float
    outcome: str


class Sample(NamedTuple):
    at_s: float
    role: str
    pid: int
    rss_bytes: int
    num_files: int
    num_threads: int


class Criterion(NamedTuple):
    """``needs_hour``: a short run cannot tell, or only on an idle machine."""

    name: str
    figure: str
    holds: bool
    needs_hour: bool = False


Rest = Mapping[str, tuple[int, int, int]]
"""Of each role at rest: the number of processes, and the most open files and threads of one."""


@dataclass(kw_only=True, slots=True)
class Record:
    """``tenth_s``: the length of the first and last part, whose answers are compared."""

    tenth_s: float
    began_at: float = field(default_factory=time.monotonic)
    began_s: float = 0.0  # of the faults
    ended_s: float = 0.0
    happened: list[tuple[float, str]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)  # that servers logged for empty answers
    num_outdated: int = 0  # empty answers to requests that the client itself had outdated
    num_compared: int = 0
    differ: list[str] = field(default_factory=list)
    out_of_step: list[int] = field(default_factory=list)  # clients
    samples: list[Sample] = field(default_factory=list)
    rest_before: Rest = field(default_factory=dict)
    rest_after: Rest = field(default_factory=dict)

    def elapsed_s(self) -> float:
        return time.monotonic() - self.began_at

    async def ask(self, client: int, request: "Awaitable[Any]") -> Any:
        """Return the answer; None where there is none, for whatever reason."""
        asked_s, answer = self.elapsed_s(), None
        try:
            answer = await asyncio.wait_for(request, STUCK_AFTER_S)
            outcome = "nothing" if answer is None else "text"
        except TimeoutError:
            outcome = "stuck"
        except JsonRpcException as error:
            outcome = "cancelled" if error.code == -32800 else f"error: {error}"
        except (RuntimeError, OSError):
            outcome = "lost"
        self.answers.append(Answer(client, asked_s, self.elapsed_s() - asked_s, outcome))
        return answer

    def sample(self, ground: Ground) -> Rest:
        at_s, new = self.elapsed_s(), []
        for role, word in ROLES.items():
            for process in ground.processes(word):
                with contextlib.suppress(psutil.Error, IndexError), process.oneshot():
                    if process.cmdline()[-1] == "parse":
                        continue
                    # An index starts its parser when it needs one: its pipes and threads.
                    num_parser = 2 * len(process.children()) if role == "index" else 0
                    num_files, num_threads = process.num_fds(), process.num_threads()
                    rss = process.memory_info().rss
                    held = (num_files - num_parser, num_threads - num_parser)
                    new.append(Sample(at_s, role, process.pid, rss, *held))
        self.samples += new
        by_role = {role: [it for it in new if it.role == role] for role in ROLES}
        return {
            role: (
                len(mine),
                max((it.num_files for it in mine), default=0),
                max((it.num_threads for it in mine), default=0),
            )
            for role, mine in by_role.items()
        }

    def left(self) -> list[str]:
        """Return what there is more of at rest after the faults than before them."""
        things = (("processes", 0), ("open files", 0), ("threads", THREADS_OF_POOL))
        return [
            f"{role}: {after} {thing}, {before} before"
            for role in self.rest_before.keys() & self.rest_after.keys()
            for (thing, more), before, after in zip(
                things, self.rest_before[role], self.rest_after[role], strict=True
            )
            if after > before + more
        ]

    def p99_ms(self, start_s: float, end_s: float) -> float:
        """Return that of requests in this time that the client did not cancel, 0 for none."""
        others = ("cancelled", "stuck", "lost")
        asked = [it for it in self.answers if start_s <= it.asked_s < end_s]
        took = [it.took_s for it in asked if it.outcome not in others]
        return 1000 * float(np.percentile(took, 99)) if took else 0.0

    def verdict(self) -> Iterator[Criterion]:
        """Yield each criterion that can be judged in a soak of this length."""
        outcomes = Counter(it.outcome for it in self.answers)
        errors = [outcome for outcome in outcomes if outcome.startswith("error")]
        yield _none("stuck requests", ["stuck"] * outcomes["stuck"])
        yield _none("texts that differ", self.differ)
        yield _none("clients out of step at the end", self.out_of_step)
        yield _none("requests answered with an error of the protocol", errors)
        num_empty = outcomes["nothing"] - self.num_outdated
        silent = num_empty - self.reasons.total()
        figure = f"{max(0, silent)} of {num_empty}"
        yield Criterion("empty answers without a reason", figure, silent <= 0)
        yield _none("processes, open files or threads more than before", self.left())
        first = self.p99_ms(self.began_s, self.began_s + self.tenth_s)
        last = self.p99_ms(self.ended_s - self.tenth_s, self.ended_s)
        if first and last:
            figure = f"{last:.0f} ms / {first:.0f} ms, at most {MAX_P99_RATIO}"
            name = "p99 of the last tenth / of the first"
            yield Criterion(name, figure, last / first <= MAX_P99_RATIO, needs_hour=True)
        for role in ROLES:
            yield from self._growth(role)

    def _growth(self, role: str) -> Iterator[Criterion]:
        """Judge the growth within each process, as one that replaces another begins with less.

        It is the median of the slopes between each two minutes (Theil-Sen). Noise hides it where a
        quarter of the slopes go down.
        """
        mine = [it for it in self.samples if it.role == role]
        slopes = [slope for pid in {it.pid for it in mine} for slope in _slopes(mine, pid)]
        if slopes:
            mib, mean = 1 << 20, float(np.mean([it.rss_bytes for it in mine]))
            median, bound = float(np.median(slopes)), MAX_GROWTH * mean
            figure = f"{median / mib:+.1f} MiB an hour, below {bound / mib:.1f} of {mean / mib:.0f}"
            holds = median < bound or float(np.percentile(slopes, 25)) <= 0
            yield Criterion(f"memory of a process: {role}", figure, holds, needs_hour=True)


def _none(name: str, found: Sequence[object]) -> Criterion:
    return Criterion(name, "; ".join([str(len(found)), *map(str, found[:3])]), not found)


def _slopes(samples: Sequence[Sample], pid: int) -> Iterator[float]:
    """Yield the slopes between each two minutes of a process, in bytes an hour."""
    mine = [it for it in samples if it.pid == pid]
    minutes: dict[int, list[int]] = defaultdict(list)
    for sample in mine:
        if sample.at_s >= mine[0].at_s + SETTLES_S:
            minutes[int(sample.at_s // 60)].append(sample.rss_bytes)
    if len(minutes) >= FEWEST_MINUTES:
        means = {minute: float(np.mean(values)) for minute, values in minutes.items()}
        for first, second in itertools.combinations(sorted(means), 2):
            yield 60 * (means[second] - means[first]) / (second - first)
