"""Which fault happens when: drawn with a seed, each about equally often."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

TENTH = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """``every_s``: from one fault to the next. ``warm_up_s``: traffic before, without any."""

    seconds: float = 3600.0
    every_s: float = 60.0
    warm_up_s: float = 60.0
    num_clients: int = 8
    seed: int = 1
    uses_real_model: bool = False

    @property
    def num_faults(self) -> int:
        """One at the beginning of each interval: after the last one there is time to recover."""
        return int(self.seconds // self.every_s)

    @property
    def num_compared(self) -> int:
        """The number of faults in the first tenth of the time, and in the last."""
        return max(1, round(self.num_faults * TENTH))


def schedule(names: Sequence[str], plan: Plan) -> list[str]:
    """Return the faults in order. The last tenth repeats the first, so that they compare."""
    random, drawn = Random(plan.seed), []
    while len(drawn) < plan.num_faults:
        drawn += random.sample(names, len(names))
    num = plan.num_compared
    if plan.num_faults >= 2 * num + len(names):
        return drawn[: plan.num_faults - num] + drawn[:num]
    return drawn[: plan.num_faults]
