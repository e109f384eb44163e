"""What a section of the benchmark gets (``Bench``) and returns (``Figure``)."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.launch import LaunchOptions
from intarsia.infill.filling.plan import FillOptions
from intarsia_research.evaluation.intervals import percentile
from intarsia_research.evaluation.systems.baseline import Baseline


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """The benchmark's own engine, and how to use it.

    ``launch`` starts more engines like it; ``baselines`` are not started yet.
    """

    client: EngineClient
    address: Address  # of the engine
    options: FillOptions
    repeats: int
    launch: LaunchOptions = field(default_factory=LaunchOptions)
    baselines: Sequence[Baseline] = ()

    def baseline(self, name: str) -> Baseline | None:
        """Return the baseline of this name; None if it is not to be measured."""
        return next((baseline for baseline in self.baselines if baseline.name == name), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One number: ``name`` for scripts (with its unit), ``words`` and ``method`` for people.

    ``value`` None: not measured; ``method`` says why. ``bounds`` is an interval around the value;
    ``method`` describes it.
    """

    name: str
    words: str
    value: float | None
    unit: str
    method: str
    bounds: tuple[float, float] | None = None


def middle_of(values: Sequence[float], *, name: str, words: str, unit: str, method: str) -> Figure:
    """Return the median of a few values as a figure, with minimum and maximum as bounds."""
    return Figure(
        name=name,
        words=words,
        value=percentile(values, 50) if values else None,
        unit=unit,
        method=f"{method}; median of {len(values)} (minimum to maximum)" if values else method,
        bounds=(min(values), max(values)) if len(values) > 1 else None,
    )
