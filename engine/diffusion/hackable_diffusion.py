"""Unmask canvases with Hackable Diffusion, a JAX library of samplers, in the place of our parts.

Its ``SamplerStep`` chooses the positions and tokens of each step, and its early stop ends the loop.
The loop, the predictions and the given text stay ours. For research: JAX is imported with the first
canvas, and is in no list of ours. Follows hackable_diffusion 1.0.1, lib/sampling.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import torch
from torch import Generator, Tensor

from intarsia.engine.diffusion.acceptance import AllAccepted, EndPosition, is_before_end
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.policies import ConstantTemperature
from intarsia.engine.diffusion.prediction import Draft, Prediction, draft_accepted, take_likeliest

_GREEDY = 1e-3  # the library only samples: at this temperature it takes the likeliest token

MakeSampler: TypeAlias = Callable[[Any, float], Any]
"""(masking process, temperature) → the library's ``SamplerStep``."""


def unmask_the_surest(process: Any, temperature: float) -> Any:
    """Return the library's ``UnMaskingStep`` with its ``GreedyPlanner``.

    The planner ranks by the model's own probabilities, whatever the temperature is.
    """
    from hackable_diffusion.lib.sampling import discrete_step_sampler as steps

    planner = steps.GreedyPlanner()

    def plan(weights: Any, logits: Any, *others: Any) -> Any:
        return planner(weights, logits * temperature, *others)

    return steps.UnMaskingStep(
        corruption_process=process,
        planner=plan,
        corruption_mask_fn=steps.MaskValueCorruptedMaskFn(process=process),
        temperature=temperature,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class HackableSchedule:
    """Makes the policy of each canvas; ``make_sampler`` may choose any planner and remasker.

    Times are even from 1 to 0 in ``num_steps`` steps, so all is unmasked after the last one. The
    loop ends sooner at a mean entropy of ``entropy_threshold`` nats a token of the hole: what is
    still masked then becomes the likeliest token.
    """

    num_steps: int = 8
    entropy_threshold: float = 0.05
    make_sampler: MakeSampler = unmask_the_surest

    def __post_init__(self) -> None:
        if self.num_steps < 1:
            raise ValueError(f"num_steps must be at least 1, got {self.num_steps}")

    def policy(
        self,
        *,
        mask_id: int,
        max_steps: int,
        temperature: float,
        end_position: EndPosition,
        generator: Generator,
    ) -> DenoisingPolicy:
        """Return the policy of one canvas. Temperature 0 takes the likeliest token."""
        num_steps = min(self.num_steps, max_steps)
        seed = int(torch.randint(2**31, (), generator=generator, device=generator.device))
        steps = _Steps(
            schedule=self,
            num_steps=num_steps,
            mask_id=mask_id,
            seed=seed,
            is_greedy=temperature == 0,
            end_position=end_position,
        )
        is_ended = AllAccepted(end_position=end_position)
        return DenoisingPolicy(
            max_steps=num_steps,
            temperature=ConstantTemperature(temperature=temperature or 1.0),
            sample=take_likeliest,  # not used: the library samples
            accept=steps.accept,
            renew=steps.renew,
            write_draft=draft_accepted,
            stop=lambda canvas, drafts: steps.stop(canvas, drafts) or is_ended(canvas, drafts),
        )


class _Steps:
    """The steps of one canvas. The library numbers the mask after all tokens of the vocabulary."""

    def __init__(
        self,
        *,
        schedule: HackableSchedule,
        num_steps: int,
        mask_id: int,
        seed: int,
        is_greedy: bool,
        end_position: EndPosition,
    ) -> None:
        self._schedule = schedule
        self._num_steps = num_steps
        self._mask_id = mask_id
        self._seed = seed
        self._temperature = _GREEDY if is_greedy else 1.0
        self._end_position = end_position
        self._num_done = 0
        self._sampler: Any = None
        self._before: Any = None
        self._after: Any = None

    def accept(self, canvas: TokenCanvas, prediction: Prediction) -> Tensor:
        """Run one step of the library; return the free positions that it leaves unmasked."""
        import jax.numpy as jnp
        from hackable_diffusion.lib.sampling import base

        num_categories = prediction.logits.shape[-1]
        if self._sampler is None:
            process = _masking_process(num_categories)
            self._sampler = self._schedule.make_sampler(process, self._temperature)
        is_masked = canvas.is_free & ~canvas.is_accepted
        xt = torch.where(is_masked, num_categories, canvas.ids).to(torch.int32)
        logits = jnp.asarray(prediction.logits.cpu().numpy())[None]
        self._before = base.DiffusionStep(
            xt=jnp.asarray(xt.cpu().numpy())[None, :, None],
            step_info=self._step_info(self._num_done),
            aux={"logits": logits},
        )
        updated = self._sampler.update(
            {"logits": logits}, self._before, self._step_info(self._num_done + 1)
        )
        # its logits are scaled by the temperature, and its stop rules read them
        self._after = base.DiffusionStep(
            xt=updated.xt, step_info=updated.step_info, aux={"logits": logits}
        )
        self._num_done += 1
        return canvas.is_free & (self._ids(canvas) != num_categories)

    def renew(
        self, canvas: TokenCanvas, prediction: Prediction, is_accepted: Tensor, generator: Generator
    ) -> TokenCanvas:
        """Return the canvas that the library wrote; given text is written into it again."""
        ids = torch.where(is_accepted, self._ids(canvas), self._mask_id)
        return TokenCanvas(
            ids=torch.where(canvas.is_fixed, canvas.ids, ids),
            is_fixed=canvas.is_fixed,
            is_accepted=is_accepted,
        )

    def stop(self, canvas: TokenCanvas, drafts: Sequence[Draft]) -> bool:
        """Ask the library's rule, which sees the mean entropy up to the predicted end."""
        import jax.numpy as jnp
        from hackable_diffusion.lib.sampling import base
        from hackable_diffusion.lib.sampling.diffusion_early_stopping import (
            DiffusionEntropyEarlyStopFn,
        )

        is_needed = is_before_end(drafts[-1].ids, self._end_position).cpu().numpy()
        after = base.DiffusionStep(
            xt=self._after.xt[:, is_needed],
            step_info=self._after.step_info,
            aux={"logits": self._after.aux["logits"][:, is_needed]},
        )
        rule = DiffusionEntropyEarlyStopFn(entropy_threshold=self._schedule.entropy_threshold)
        is_over = rule.should_stop(
            step=jnp.asarray(self._num_done - 1),
            current_step=after,
            previous_step=self._before,
        )
        return bool(is_over[0])

    def _ids(self, canvas: TokenCanvas) -> Tensor:
        """Return the library's ids, (length,)."""
        import numpy as np

        ids = np.array(self._after.xt)[0, :, 0].astype(np.int64)
        return torch.from_numpy(ids).to(canvas.ids.device)

    def _step_info(self, step: int) -> Any:
        import jax
        import jax.numpy as jnp
        from hackable_diffusion.lib.sampling import base

        time = 1.0 - step / self._num_steps
        return base.StepInfo(
            step=jnp.asarray(step),
            time=jnp.asarray([time], dtype=jnp.float32),
            rng=jax.random.fold_in(jax.random.PRNGKey(self._seed), step),
        )


@lru_cache(maxsize=2)
def _masking_process(num_categories: int) -> Any:
    """Return the library's process that ends with masks only.

    Its own ``masking_process`` keeps a tuple of the vocabulary's length, which JAX takes seconds to
    read in each step.
    """
    import numpy as np
    from hackable_diffusion.lib.corruption import discrete, schedules

    return discrete.CategoricalProcess(
        schedule=schedules.LinearDiscreteSchedule(),
        invariant_probs=np.append(np.zeros(num_categories), 1.0),
        num_categories=num_categories,
    )
