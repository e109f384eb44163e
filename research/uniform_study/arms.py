"""The ways of denoising that the study compares: each differs from the first in one thing."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

LengthChoice: TypeAlias = Literal["ranked", "oracle", "free", "left_to_right"]
"""How long a canvas is: the length at which the pinned suffix is least surprising, the truth's own
(pinned), or one length for all, where the end token ends the hole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """One way. The defaults are DiffusionGemma's own.

    With ``num_lengths`` or ``num_seeds`` above 1 there are several answers, and the causal backbone
    picks the likeliest. ``stop_entropy``: stop when the tokens up to the end token are unchanged
    and their total entropy (nats) is below this; None: DiffusionGemma's own rule.
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


LEFT_TO_RIGHT = Arm(name="left-to-right", length="left_to_right")
PUBLISHED = Arm(name="published")
_FREE = Arm(name="free", length="free", max_steps=24)
_GREEDY = replace(_FREE, name="greedy", is_greedy=True)
_RANKED = replace(PUBLISHED, name="ranked-greedy", max_steps=24, is_greedy=True)

ABLATION = (
    LEFT_TO_RIGHT,
    PUBLISHED,
    replace(PUBLISHED, name="oracle", length="oracle"),
    _FREE,
    _GREEDY,
    replace(_GREEDY, name="greedy-32", free_length=32),
    replace(_GREEDY, name="greedy-bound-0.01", entropy_bound=0.01),
    replace(_GREEDY, name="greedy-bound-0.5", entropy_bound=0.5),
    replace(_GREEDY, name="greedy-bound-1", entropy_bound=1.0),
    replace(_GREEDY, name="greedy-until-end-0.1", stop_entropy=0.1),
    replace(_GREEDY, name="greedy-until-end-1", stop_entropy=1.0),
    replace(_GREEDY, name="greedy-unconditioned", is_conditioned=False),
    _RANKED,
    replace(_RANKED, name="oracle-greedy", length="oracle"),
    replace(_RANKED, name="ranked-3-judged", num_lengths=3),
    replace(_FREE, name="free-4-judged", num_seeds=4),
)
