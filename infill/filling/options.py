"""How a fill reaches the engine: whoever has a connection gives one of these."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from intarsia.engine.ipc.messages import Fill, Filled, SettleMode, Step
from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.suggestion import NoSuggestion


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


OnStep: TypeAlias = Callable[[Step], None]


class AskEngine(Protocol):
    """Sends a fill and waits; a cancelled await cancels it in the engine.

    Where the engine gives no answer it raises, or returns the reason.
    """

    async def __call__(
        self, request: Fill, on_step: OnStep | None = None, /
    ) -> Filled | NoSuggestion: ...
