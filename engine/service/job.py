"""One request on its way through the worker thread, and the types of its answer."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeAlias

from intarsia.engine.ipc.messages import (
    Failed,
    Fill,
    Filled,
    FindNextEdits,
    NextEdits,
    Preload,
    ScoreTexts,
    Step,
    TextScores,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """The answer to a Preload."""

    id: int


Answer: TypeAlias = Filled | NextEdits | TextScores | Failed | Loaded


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Job:
    """One request. ``deliver`` is called once, ``on_step`` any number of times, on any thread."""

    request: Fill | FindNextEdits | ScoreTexts | Preload
    client: Hashable  # the scheduler shares the model between clients
    received_at: float  # time.monotonic()
    deliver: Callable[[Answer], None]
    on_step: Callable[[Step], None] | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def is_background(self) -> bool:
        """Whether foreground fills may run between any two of its passes."""
        request = self.request
        if isinstance(request, Fill):
            return request.is_background
        return isinstance(request, FindNextEdits | ScoreTexts)

    @property
    def is_for_idle_time(self) -> bool:
        """Whether no user waits for it: every other job and every prefetch goes before it."""
        return isinstance(self.request, FindNextEdits) and not self.request.is_awaited

    def fail_as_cancelled(self, reason: str = "cancelled") -> None:
        """Answer that the request was cancelled."""
        self.deliver(Failed(id=self.request.id, code="cancelled", message=reason))
