"""How a fill reaches the engine: whoever has a connection gives one of these."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from intarsia.engine.ipc.messages import Decoding, Fill, Filled, Step
from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.suggestion import NoSuggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FillOptions:
    """What is None is left to the canvas or the engine.

    ``num_candidates`` answers are scored for a range that is filled from nothing, unless the model
    is sure of the first. A fill at the cursor has to be fast, and gets one. ``is_fresh`` forbids a
    warm start, so that every fill is measured alike. ``is_background`` lets fills at a cursor go
    first.
    """

    decoding: Decoding = "speculative"
    seed: int = 0
    num_candidates: int = 4
    temperature: float | None = None
    max_tokens: int | None = None
    max_steps: int | None = None
    deadline_ms: int | None = None
    is_fresh: bool = False
    is_background: bool = False
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
