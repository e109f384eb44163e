"""The training loop: a task and packed holes in, weights and a log out.

The same on CPU and GPU; step s of a seed always draws the same holes, so that a run can be
interrupted anywhere and go on. Knows neither text nor what is learnt.
"""

import math
import random
import signal
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from types import FrameType
from typing import Any

import torch

from intarsia.engine.errors import ModelError
from intarsia.research.training.budget import Budget, Clock
from intarsia.research.training.packed_holes import HoleIds, PackedHoles
from intarsia.research.training.run_folder import RunFolder, RunState
from intarsia.research.training.task import TrainingTask

_WARM_UP_STEPS = 40
_FLOOR = 0.05


def learning_rate(peak: float, *, step: int, share_done: float) -> float:
    """Return the rate of a step: a short warm-up, then a cosine down to a twentieth."""
    warm = min(1.0, (step + 1) / _WARM_UP_STEPS)
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, max(0.0, share_done))))
    return peak * warm * (_FLOOR + (1 - _FLOOR) * cosine)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoopOptions:
    """``holes_per_pass`` go through the model at once, ``passes_per_step`` make one step."""

    seed: int = 0
    peak_rate: float = 5e-4
    holes_per_pass: int = 4
    passes_per_step: int = 1
    held_out_share: float = 0.02  # of the groups
    judged_passes: int = 20
    steps_per_note: int = 10
    steps_per_save: int = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """One step, for whoever watches."""

    step: int
    num_tokens: int
    share_done: float
    loss: float


def train(
    task: TrainingTask,
    holes: PackedHoles,
    folder: RunFolder,
    budget: Budget,
    options: LoopOptions,
    *,
    settings: dict[str, Any],
    about: dict[str, str],
    on_step: Callable[[Progress], None],
) -> dict[str, float]:
    """Train until the budget is spent, or until the user interrupts: what there is, is kept.

    ``settings``: what else makes the run what it is; one that goes on must have the same. Returns
    the figures on held-out holes. Raises ModelError.
    """
    optimiser = torch.optim.AdamW(
        task.module.parameters(), lr=options.peak_rate, betas=(0.9, 0.98), weight_decay=0.0
    )
    settings = {**settings, **asdict(options), "holes": len(holes)}
    state = folder.resume(task.module, optimiser, settings)
    step, num_tokens = (state.step, state.num_tokens) if state else (0, 0)
    clock = Clock(budget, spent_s=state.spent_s if state else 0.0)
    training, held_out = _split(holes, options.held_out_share)

    def keep() -> dict[str, float]:
        chosen = random.Random(options.seed)
        batches = [_draw(holes, held_out, chosen, options) for _ in range(options.judged_passes)]
        with torch.no_grad():
            figures = task.judge(batches, chosen)
        folder.note(step=step, tokens=num_tokens, seconds=clock.spent_s, held_out=figures)
        task.save(folder.adapter, about={**about, "steps": str(step)})
        now = RunState(step=step, num_tokens=num_tokens, spent_s=clock.spent_s, settings=settings)
        folder.save(now, task.module, optimiser)
        return figures

    figures = keep() if state is None else None
    with _Interruption() as interruption:
        while (done := clock.share_done(num_tokens)) < 1 and not interruption.has_come:
            rate = learning_rate(options.peak_rate, step=step, share_done=done)
            for group in optimiser.param_groups:
                group["lr"] = rate
            chosen, loss = random.Random(f"{options.seed}/{step}"), 0.0
            for _ in range(options.passes_per_step):
                learnt = task.learn(_draw(holes, training, chosen, options), chosen)
                share = learnt.loss / options.passes_per_step
                share.backward()  # type: ignore[no-untyped-call]
                loss += share.item()
                num_tokens += learnt.num_tokens
            torch.nn.utils.clip_grad_norm_(task.module.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            step += 1
            on_step(Progress(step=step, num_tokens=num_tokens, share_done=done, loss=loss))
            if step % options.steps_per_note == 0:
                folder.note(
                    step=step, tokens=num_tokens, seconds=clock.spent_s, loss=loss, rate=rate
                )
            if step % options.steps_per_save == 0:
                figures = keep()
    return keep() if figures is None or step % options.steps_per_save else figures


def _draw(
    holes: PackedHoles, numbers: Sequence[int], chosen: random.Random, options: LoopOptions
) -> list[HoleIds]:
    return [holes[number] for number in chosen.choices(numbers, k=options.holes_per_pass)]


def _split(holes: PackedHoles, share: float) -> tuple[list[int], list[int]]:
    """Return the numbers of the holes to train on and of those held out, by whole groups."""
    groups = sorted(set(holes.groups.tolist()))
    if len(groups) < 2:
        raise ModelError("the holes come from one source only: nothing could be held out")
    held = set(random.Random(0).sample(groups, max(1, round(len(groups) * share))))
    numbers: tuple[list[int], list[int]] = ([], [])
    for number, group in enumerate(holes.groups.tolist()):
        numbers[group in held].append(number)
    return numbers


class _Interruption:
    """Lets the user's first Ctrl-C end a run in good order."""

    def __init__(self) -> None:
        self.has_come = False

    def __enter__(self) -> "_Interruption":
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, _signal: int, _frame: FrameType | None) -> None:
        self.has_come = True
        signal.signal(signal.SIGINT, self._before)  # a second one ends at once
