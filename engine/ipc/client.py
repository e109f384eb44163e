"""The client of the engine: await a fill; a cancelled await cancels it in the engine."""

from collections.abc import Callable
from typing import Self

from intarsia.engine.ipc.messages import Fill, Filled, LoadProgress, Status, Step


class EngineError(Exception):
    """No answer from the engine. The message is one line that says what and what to do."""


class EngineUnavailable(EngineError):
    """The engine cannot be started or reached, or speaks another protocol."""


class FillFailed(EngineError):
    """The engine answered that it cannot fill this hole; ``code`` is a FailureCode."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class EngineClient:
    """CONTRACT for other packages (bodies to be written)."""

    def __init__(
        self, *, name: str, on_load_progress: Callable[[LoadProgress], None] | None = None
    ) -> None: ...

    async def fill(self, request: Fill, on_step: Callable[[Step], None] | None = None) -> Filled:
        """Send and wait; starts or restarts the engine when none runs. ``request.id`` is replaced."""
        ...

    async def preload(self, model: str | None = None) -> Status: ...
    async def status(self) -> Status: ...
    async def stop(self) -> None: ...
    async def close(self) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *exc: object) -> None: ...
