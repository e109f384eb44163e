"""What a user may say about a fill."""

from dataclasses import dataclass, field

from intarsia.engine.ipc.messages import SettleMode
from intarsia.infill.canvas import Budget


@dataclass(frozen=True, kw_only=True, slots=True)
class FillOptions:
    """What is None is left to the canvas or the engine.

    ``num_candidates``: of a stretch that is filled anew so many answers are weighed, unless the
    first is sure. A fill at the cursor has to be fast, and has one. ``is_fresh``: no earlier answer
    is the start, so that every fill is measured alike. ``gives_way``: fills that are waited for at
    a cursor go before it.
    """

    settle: SettleMode = "verified"
    seed: int = 0
    num_candidates: int = 4
    temperature: float | None = None
    max_tokens: int | None = None
    max_steps: int | None = None
    deadline_ms: int | None = None
    is_fresh: bool = False
    gives_way: bool = False
    model: str | None = None
    budget: Budget = field(default_factory=Budget)
