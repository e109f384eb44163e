"""How a fill reaches the engine: whoever has a connection gives one of these."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from intarsia.engine.ipc.messages import Fill, Filled, Step
from intarsia.infill.suggestion import NoSuggestion

OnStep: TypeAlias = Callable[[Step], None]


class AskEngine(Protocol):
    """Sends a fill and waits; a cancelled await cancels it in the engine.

    Where the engine gives no answer it raises, or returns the reason.
    """

    async def __call__(
        self, request: Fill, on_step: OnStep | None = None, /
    ) -> Filled | NoSuggestion: ...
