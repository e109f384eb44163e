"""Memory, open files and threads of a soak's processes, sampled, and how memory grows."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import psutil
from faults.ground import Ground
from soak.stage import Roles

MINUTE_S = 60.0
MINUTES_OF_HOUR = 60
FEWEST_MINUTES = 4
NUM_DRAWS = 500
SEED = 20261124
PIPES_OF_PARSER = THREADS_OF_PARSER = 2
"""What an index holds for the process that parses for it: its input, and its output."""

Slopes: TypeAlias = npt.NDArray[np.float64]


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
    """Bytes an hour by Theil-Sen; 95 % interval, processes resampled; ``mean_bytes``: the level."""

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


def growth(samples: Sequence[Sample], settles_s: float) -> Growth | None:
    """Return how a process grows, by its means of each minute; None: none ran for long enough.

    A process fills its allocators and caches first: its first ``settles_s`` are left out. Slopes
    are those between minutes of the same process, as one that replaces another begins with less.
    """
    slopes = [found for it in _by_process(samples) if len(found := _slopes(it, settles_s))]
    if not slopes:
        return None
    drawn = np.random.default_rng(SEED).integers(len(slopes), size=(NUM_DRAWS, len(slopes)))
    medians = [np.median(np.concatenate([slopes[number] for number in row])) for row in drawn]
    low, high = np.percentile(medians, [2.5, 97.5])
    return Growth(
        per_hour=float(np.median(np.concatenate(slopes))),
        low=float(low),
        high=float(high),
        mean_bytes=float(np.mean([it.rss_bytes for it in samples])),
    )


def _by_process(samples: Iterable[Sample]) -> Iterable[Sequence[Sample]]:
    found: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        found[sample.pid].append(sample)
    return found.values()


def _slopes(samples: Sequence[Sample], settles_s: float) -> Slopes:
    """Return the slopes between each two minutes of a process, in bytes an hour."""
    after_s = samples[0].at_s + settles_s
    minutes: dict[int, list[int]] = defaultdict(list)
    for sample in samples:
        if sample.at_s >= after_s:
            minutes[int(sample.at_s // MINUTE_S)].append(sample.rss_bytes)
    if len(minutes) < FEWEST_MINUTES:
        return np.array([])
    at = np.array(sorted(minutes))
    means = np.array([np.mean(minutes[minute]) for minute in at])
    first, second = np.triu_indices(len(at), k=1)
    return MINUTES_OF_HOUR * (means[second] - means[first]) / (at[second] - at[first])
