"""The training loop: it trains a task on packed holes, and writes weights and a log.

It runs the same on CPU and GPU. Step s of a seed always draws the same holes, so an interrupted run
can be resumed at any step. The loop knows neither text nor the objective.
"""

import math
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from intarsia.engine.errors import ModelError
from intarsia_research.training.packed_holes import HoleIds, PackedHoles
from intarsia_research.training.run_folder import RunFolder, RunState

_WARM_UP_STEPS = 40
_FLOOR = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """``tokens`` counts the positions that the loss is computed at.

    A run limited by tokens alone is the same on every machine; one limited by minutes is not.
    """

    minutes: float | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        if self.minutes is None and self.tokens is None:
            raise ValueError("a budget needs minutes or tokens")
        if min(self.minutes or 1, self.tokens or 1) <= 0:
            raise ValueError(f"a budget must be above 0: {self}")

    def share_spent(self, seconds: float, num_tokens: int) -> float:
        """Return the share that is spent: 1 or more at the end."""
        by_time = seconds / (60 * self.minutes) if self.minutes else 0.0
        return max(by_time, num_tokens / self.tokens if self.tokens else 0.0)


def learning_rate(peak: float, *, step: int, share_done: float) -> float:
    """Return the rate of a step: a short warm-up, then a cosine down to a twentieth."""
    warm = min(1.0, (step + 1) / _WARM_UP_STEPS)
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, max(0.0, share_done))))
    return peak * warm * (_FLOOR + (1 - _FLOOR) * cosine)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class PassLoss:
    """The loss of one forward pass. ``num_tokens``: positions that it counts for the budget."""

    loss: Tensor  # ()
    num_tokens: int


class TrainingTask(Protocol):
    """One kind of weights and its objective."""

    @property
    def module(self) -> nn.Module: ...

    def compute_loss(self, holes: Sequence[HoleIds], rng: random.Random) -> PassLoss:
        """Return the loss with its graph; everything random is drawn from ``rng``."""
        ...

    def evaluate(
        self, batches: Sequence[Sequence[HoleIds]], rng: random.Random
    ) -> dict[str, float]:
        """Return figures on held-out holes by name; ``loss`` is always one."""
        ...

    def save(self, path: Path, *, metadata: dict[str, str]) -> None:
        """Write the weights in the engine's format."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class LoopOptions:
    """A forward pass takes ``holes_per_pass``; gradients of ``passes_per_step`` are one step.

    The ``steps_per_...`` have no part in the result: a resumed run may have others.
    """

    seed: int = 0
    peak_rate: float = 5e-4
    holes_per_pass: int = 4
    passes_per_step: int = 1
    held_out_share: float = 0.02  # of the groups
    held_out_passes: int = 20
    steps_per_note: int = 10
    steps_per_save: int = 10
    steps_per_evaluation: int = 100

    def settings(self) -> dict[str, Any]:
        """Return what determines the result of a run."""
        return {k: v for k, v in asdict(self).items() if not k.startswith("steps_per_")}


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingPlan:
    """How long and how to train, and what the run is.

    ``settings`` are everything else that determines the result: a resumed run must have the same.
    ``metadata`` goes into the header of the weight file.
    """

    budget: Budget
    options: LoopOptions
    settings: dict[str, Any]
    metadata: dict[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingProgress:
    """The state of a run after a step."""

    step: int
    num_tokens: int
    share_done: float
    loss: float


def train(
    task: TrainingTask,
    holes: PackedHoles,
    folder: RunFolder,
    plan: TrainingPlan,
    *,
    on_step: Callable[[TrainingProgress], None],
) -> dict[str, float]:
    """Train until the budget is spent or the user interrupts.

    Return the figures on held-out holes, none after an interruption. A run that is in the folder
    already is resumed. Raises ModelError if it cannot be.
    """
    run = _Run(task, holes, folder, plan)
    with _interruption() as interruption:
        if run.is_new:
            run.evaluate()
            run.save()
        while (done := run.share_done()) < 1 and not interruption.is_set():
            on_step(run.take_step(done))
            if run.is_due(plan.options.steps_per_evaluation):
                run.evaluate()
            if run.is_due(plan.options.steps_per_save):
                run.save()
    run.save()
    return run.evaluate() if run.share_done() >= 1 else {}


class _Run:
    """A run between two steps: what it trains, and how far it is."""

    def __init__(
        self, task: TrainingTask, holes: PackedHoles, folder: RunFolder, plan: TrainingPlan
    ) -> None:
        options = plan.options
        self._task, self._holes, self._folder = task, holes, folder
        self._options, self._metadata = options, plan.metadata
        self._settings = {**plan.settings, **options.settings(), "holes": len(holes)}
        self._optimiser = torch.optim.AdamW(
            task.module.parameters(), lr=options.peak_rate, betas=(0.9, 0.98), weight_decay=0.0
        )
        state = folder.resume(task.module, self._optimiser, self._settings)
        self.is_new = state is None
        self._step, self._num_tokens = (state.step, state.num_tokens) if state else (0, 0)
        self._budget = plan.budget
        self._started_at = time.monotonic() - (state.spent_s if state else 0.0)
        self._training, self._held_out = _split(holes, options.held_out_share)

    def share_done(self) -> float:
        return self._budget.share_spent(self._spent_s(), self._num_tokens)

    def is_due(self, steps: int) -> bool:
        return self._step % steps == 0

    def take_step(self, share_done: float) -> TrainingProgress:
        options, parameters = self._options, self._task.module.parameters()
        rate = learning_rate(options.peak_rate, step=self._step, share_done=share_done)
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        loss = self._backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        self._optimiser.step()
        self._optimiser.zero_grad(set_to_none=True)
        self._step += 1
        if self._step % options.steps_per_note == 0:
            self._folder.append_log(**self._position(), loss=loss, rate=rate)
        return TrainingProgress(
            step=self._step, num_tokens=self._num_tokens, share_done=share_done, loss=loss
        )

    def evaluate(self) -> dict[str, float]:
        """Return the figures on held-out holes, and write them into the log."""
        rng = random.Random(self._options.seed)
        num_batches = self._options.held_out_passes
        size = self._options.holes_per_pass
        batches = [self._draw(self._held_out, rng, size) for _ in range(num_batches)]
        with torch.no_grad():
            figures = self._task.evaluate(batches, rng)
        self._folder.append_log(**self._position(), held_out=figures)
        return figures

    def save(self) -> None:
        """Write weights and state."""
        metadata = {**self._metadata, "steps": str(self._step)}
        self._task.save(self._folder.weights, metadata=metadata)
        state = RunState(
            step=self._step,
            num_tokens=self._num_tokens,
            spent_s=self._spent_s(),
            settings=self._settings,
        )
        self._folder.save(state, self._task.module, self._optimiser)

    def _backward(self) -> float:
        """Accumulate the gradients of a step; return its mean loss."""
        options = self._options
        rng, loss = random.Random(f"{options.seed}/{self._step}"), 0.0
        size, num_passes = options.holes_per_pass, options.passes_per_step
        # Holes of like lengths share a pass: less padding.
        holes = sorted(self._draw(self._training, rng, size * num_passes), key=len)
        for number in range(num_passes):
            batch = holes[number * size : (number + 1) * size]
            computed = self._task.compute_loss(batch, rng)
            share = computed.loss / options.passes_per_step
            share.backward()  # type: ignore[no-untyped-call]
            loss += share.item()
            if not math.isfinite(loss):
                raise ModelError(
                    f"the loss of step {self._step} is no number: what was saved before is in "
                    f"{self._folder.path}; go on in a copy of it with a lower --rate"
                )
            self._num_tokens += computed.num_tokens
        return loss

    def _spent_s(self) -> float:
        return time.monotonic() - self._started_at

    def _position(self) -> dict[str, Any]:
        return {
            "step": self._step,
            "tokens": self._num_tokens,
            "seconds": self._spent_s(),
        }

    def _draw(self, indexes: Sequence[int], rng: random.Random, number: int) -> list[HoleIds]:
        drawn = rng.choices(indexes, k=number)
        return [self._holes[index] for index in drawn]


def _split(holes: PackedHoles, share: float) -> tuple[list[int], list[int]]:
    """Return the indexes of training and of held-out holes; a group is never divided."""
    groups = sorted(set(holes.groups.tolist()))
    if len(groups) < 2:
        raise ModelError("the holes come from one source only: nothing could be held out")
    held_out = set(random.Random(0).sample(groups, max(1, round(len(groups) * share))))
    indexes: tuple[list[int], list[int]] = ([], [])
    for index, group in enumerate(holes.groups.tolist()):
        indexes[group in held_out].append(index)
    return indexes


@contextmanager
def _interruption() -> Iterator[Event]:
    """Turn the user's first Ctrl-C into an event, to stop after the current step."""
    requested = Event()

    def request(_signal: int, _frame: FrameType | None) -> None:
        requested.set()
        signal.signal(signal.SIGINT, previous)  # a second Ctrl-C stops at once

    previous = signal.signal(signal.SIGINT, request)
    try:
        yield requested
    finally:
        signal.signal(signal.SIGINT, previous)
