"""The ways of denoising that the study compares: each differs from the first in one thing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from torch import Tensor

from intarsia.engine.diffusion.acceptance import AcceptAmongFree, StableAndConfident, Stop
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.policies import ConstantTemperature, LinearTemperature
from intarsia.engine.diffusion.prediction import Draft, draw, take_likeliest
from intarsia.engine.diffusion.renewal import Renoise

LengthChoice: TypeAlias = Literal["ranked", "oracle", "free", "left_to_right"]
"""How long a canvas is: the length at which the pinned suffix is least surprising, the truth's own
(pinned), or one length for all, where the end token ends the hole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StableUntilEnd:
    """Stop once what is before the end token has not changed for a step, and its total entropy is
    low: what comes after the end is not text."""

    end_id: int
    max_entropy: float  # nats, in all

    def __call__(self, canvas: TokenCanvas, drafts: Sequence[Draft]) -> bool:
        if len(drafts) < 2:
            return False
        last, earlier = drafts[-1], drafts[-2]
        num = self._num_text(last.ids, canvas)
        is_same = bool((last.ids[:num] == earlier.ids[:num]).all())
        return is_same and float(last.entropies[:num].sum()) < self.max_entropy

    def _num_text(self, ids: Tensor, canvas: TokenCanvas) -> int:
        num_free = int(canvas.is_free.sum())
        ends = (ids[:num_free] == self.end_id).nonzero()
        return int(ends[0]) + 1 if len(ends) else num_free


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """One way. The defaults are DiffusionGemma's own.

    ``num_seeds``: answers from this many noises, of which the backbone itself, read from left to
    right, takes the likeliest. ``stop_entropy``: of ``StableUntilEnd``; None is the model's rule.
    """

    name: str
    length: LengthChoice = "ranked"
    free_length: int = 64
    entropy_bound: float = 0.1
    max_steps: int = 48
    t_max: float = 0.8
    t_min: float = 0.4
    is_greedy: bool = False
    is_conditioned: bool = True
    heals: bool = True
    stop_entropy: float | None = None
    num_lengths: int = 1
    num_seeds: int = 1

    def policy(self, *, vocab_size: int, end_id: int) -> DenoisingPolicy:
        """Return the parts of the denoising loop."""
        linear = LinearTemperature(t_min=self.t_min, t_max=self.t_max, num_steps=self.max_steps)
        stop: Stop = StableAndConfident(stability_threshold=1, confidence_threshold=0.005)
        if self.stop_entropy is not None:
            stop = StableUntilEnd(end_id=end_id, max_entropy=self.stop_entropy)
        return DenoisingPolicy(
            max_steps=self.max_steps,
            temperature=ConstantTemperature() if self.is_greedy else linear,
            sample=take_likeliest if self.is_greedy else draw,
            accept=AcceptAmongFree(entropy_bound=self.entropy_bound),
            renew=Renoise(vocab_size=vocab_size),
            stop=stop,
        )


LEFT_TO_RIGHT = Arm(name="left to right", length="left_to_right")
PUBLISHED = Arm(name="published")
_FREE = Arm(name="free", length="free")
_GREEDY = replace(_FREE, name="free, greedy", is_greedy=True)

ABLATION = (
    LEFT_TO_RIGHT,
    PUBLISHED,
    replace(PUBLISHED, name="oracle length", length="oracle"),
    _FREE,
    replace(_FREE, name="free 32", free_length=32),
    _GREEDY,
    replace(_GREEDY, name="free, greedy, bound 0.01", entropy_bound=0.01),
    replace(_GREEDY, name="free, greedy, bound 0.5", entropy_bound=0.5),
    replace(_GREEDY, name="free, greedy, bound 1", entropy_bound=1.0),
    replace(_GREEDY, name="free, greedy, until end 0.1", stop_entropy=0.1),
    replace(_GREEDY, name="free, greedy, until end 1", stop_entropy=1.0),
    replace(_GREEDY, name="free, greedy, unconditioned", is_conditioned=False),
    replace(_GREEDY, name="free, greedy, no healing", heals=False),
    replace(PUBLISHED, name="ranked, greedy", is_greedy=True),
    replace(PUBLISHED, name="oracle length, greedy", length="oracle", is_greedy=True),
    replace(PUBLISHED, name="3 lengths, judged", is_greedy=True, num_lengths=3),
    replace(_FREE, name="free, 4 noises, judged", num_seeds=4),
)
