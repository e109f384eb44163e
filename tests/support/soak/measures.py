"""Memory, open files and threads of a soak's processes, sampled, and how memory grows."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import psutil
from faults.ground import Ground
from scipy import stats
from soak.stage import Roles

MINUTE_S = 60.0
PIPES_OF_PARSER = THREADS_OF_PARSER = 2
"""What an index holds for the process that parses for it: its input, and its output."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One process at one time, in seconds since the soak began."""

    at_s: float
    role: str
    pid: int
    rss_bytes: int
    num_files: int
    num_threads: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Growth:
    """Bytes an hour by Theil-Sen, with its 95 % interval; ``mean_bytes`` is the level."""

    per_hour: float
    low: float
    high: float
    mean_bytes: float


@dataclass(kw_only=True, slots=True)
class Samples:
    """All samples of a soak on one ground."""

    ground: Ground
    roles: Roles
    began_at: float = field(default_factory=time.monotonic)
    taken: list[Sample] = field(default_factory=list)

    def take(self) -> list[Sample]:
        """Sample each process now; return the new samples."""
        at_s, new = time.monotonic() - self.began_at, []
        for role, word in self.roles.items():
            for process in self.ground.processes(word):
                with contextlib.suppress(psutil.Error, IndexError):
                    new.append(_sample(process, role, at_s))
        self.taken += new
        return new


def _sample(process: psutil.Process, role: str, at_s: float) -> Sample:
    """Return a sample. An index starts its parser when it needs one: its own part is left out."""
    with process.oneshot():
        is_parser = process.cmdline()[-1] == "parse"
        num_parsers = len(process.children()) if role == "index" and not is_parser else 0
        return Sample(
            at_s=at_s,
            role="parser" if is_parser else role,
            pid=process.pid,
            rss_bytes=process.memory_info().rss,
            num_files=process.num_fds() - PIPES_OF_PARSER * num_parsers,
            num_threads=process.num_threads() - THREADS_OF_PARSER * num_parsers,
        )


def growth(samples: Iterable[Sample], after_s: float) -> Growth | None:
    """Return how the mean memory of a process grew, minute by minute; None: too short to tell."""
    minutes: dict[int, list[int]] = defaultdict(list)
    for sample in samples:
        if sample.at_s >= after_s:
            minutes[int(sample.at_s // MINUTE_S)].append(sample.rss_bytes)
    if len(minutes) < 4:
        return None
    means = [float(np.mean(minutes[minute])) for minute in sorted(minutes)]
    found = stats.theilslopes(means, sorted(minutes))
    hour = 60.0
    return Growth(
        per_hour=float(found.slope) * hour,
        low=float(found.low_slope) * hour,
        high=float(found.high_slope) * hour,
        mean_bytes=float(np.mean(means)),
    )


def whole_life(samples: Sequence[Sample], role: str) -> list[Sample]:
    """Return the samples of the processes of a role that ran from the first to the last sample."""
    if not samples:
        return []
    first, last = samples[0].at_s, samples[-1].at_s
    firsts = {it.pid for it in samples if it.at_s == first}
    lasts = {it.pid for it in samples if it.at_s == last}
    return [it for it in samples if it.role == role and it.pid in firsts & lasts]
