"""Fill the real holes by our own schedule and by Hackable Diffusion's, and write what happened.

Runs with JAX and that library beside our packages. Writes a JSON object: schedule → hole → the
text, the passes, whether given tokens held at each step, and whether the library's rule ended a
canvas before all its tokens were unmasked.
"""

import json
import sys
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
from hackable_diffusion.lib.sampling import discrete_step_sampler as steps
from real_holes import REAL_HOLES

from intarsia.engine.config import EngineConfig
from intarsia.engine.decoding.entropy import CanvasSchedule, EntropyPolicy
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.hackable_diffusion import HackableSchedule
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.service.load_filler import load_filler


def unmask_leftmost(process: Any, temperature: float) -> Any:
    """Return the library's step with a planner of ours: the first masked position alone."""

    def plan(weights: Any, *_: Any) -> Any:
        may_change = weights.clean[..., 0] > 0
        is_first = (may_change & (jnp.cumsum(may_change, axis=-1) == 1))[..., None]
        clean = jnp.where(is_first, 1.0, 0.0)
        return steps.Routing(stay=1.0 - clean, noise=jnp.zeros_like(clean), clean=clean)

    return steps.UnMaskingStep(
        corruption_process=process,
        planner=plan,
        corruption_mask_fn=steps.MaskValueCorruptedMaskFn(process=process),
        temperature=temperature,
    )


class Watched:
    """A schedule that notes what its policies do."""

    def __init__(self, schedule: CanvasSchedule) -> None:
        self.schedule = schedule
        self.pins_hold, self.num_stopped_early = True, 0

    def policy(self, **plan: Any) -> DenoisingPolicy:
        own = self.schedule.policy(**plan)

        def renew(canvas: Any, *others: Any) -> Any:
            after = own.renew(canvas, *others)
            is_known = canvas.is_fixed | (canvas.is_accepted & after.is_accepted)
            self.pins_hold &= bool((after.ids == canvas.ids)[is_known].all())
            return after

        def stop(canvas: Any, drafts: Any) -> bool:
            is_over = own.stop(canvas, drafts)
            is_open = canvas.is_free & ~canvas.is_accepted
            end = plan["end_position"](drafts[-1].ids)
            is_needed = is_open[: len(is_open) if end is None else end + 1]
            self.num_stopped_early += is_over and bool(is_needed.any())
            return is_over

        return replace(own, renew=renew, stop=stop)


HOLES = ("running mean", "count vowels", "clamp")

SCHEDULES: dict[str, tuple[EntropyPolicy, Watched | None]] = {
    "own": (EntropyPolicy(), None),
    "own, leftmost": (EntropyPolicy(entropy_bound=0.0, min_confidence=0.0), None),
}
for name, schedule in {
    "theirs": HackableSchedule(),
    "theirs, stops sooner": HackableSchedule(entropy_threshold=0.25),
    "theirs, leftmost": HackableSchedule(
        num_steps=12, entropy_threshold=0.0, make_sampler=unmask_leftmost
    ),
}.items():
    watched = Watched(schedule)
    SCHEDULES[name] = EntropyPolicy(schedule=watched), watched


def main() -> None:
    config = EngineConfig(unmasking="hackable-diffusion")
    filler: Any = load_filler(config, config.model, lambda stage, share: None)
    assert isinstance(filler._writer._entropy.schedule, HackableSchedule)
    found: dict[str, dict[str, Any]] = {}
    for schedule, (policy, watched) in SCHEDULES.items():
        filler._writer._entropy = policy
        for hole in HOLES:
            prefix, suffix = REAL_HOLES[hole]
            request = Fill(
                id=1,
                prefix=prefix,
                suffix=suffix,
                stop=("\n",),
                max_tokens=32,
                fresh=True,
                decoding="entropy",
            )
            filled = filler.fill(request, NO_CONTROL)
            found.setdefault(schedule, {})[hole] = {
                "text": filled.text,
                "num_forwards": filled.num_forwards,
                "least_sure": min(token.confidence for token in filled.tokens),
                "pins_hold": watched is None or watched.pins_hold,
                "num_stopped_early": 0 if watched is None else watched.num_stopped_early,
            }
            if watched is not None:
                watched.num_stopped_early = 0
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
