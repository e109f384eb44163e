"""How the caller of a fill steers it while it runs: deadline, step reports and preemption."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from intarsia.engine.errors import DeadlinePassed
from intarsia.engine.ipc.messages import Fill, Step


def no_preemption() -> None:
    """Let the fill run on: the checkpoint of a fill that is neither cancelled nor suspended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FillControl:
    """The limits that a running fill obeys.

    ``checkpoint`` is the preemption point. The fill calls it before every forward pass, before
    every chunk of a prefill, while it waits for a remote server, and nowhere else. It may run fills
    of other clients before it returns, within ``Filler.suspended``. It raises Cancelled if this
    fill is to end.
    """

    received_at: float = field(default_factory=time.monotonic)  # time.monotonic() of the request
    deadline: float | None = None  # time.monotonic()
    on_step: Callable[[Step], None] | None = None
    checkpoint: Callable[[], None] = no_preemption

    @property
    def is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def checkpoint_in_time(self) -> None:
        """Call the checkpoint. Raises what it raises, and DeadlinePassed after the deadline."""
        self.checkpoint()
        if self.is_late:
            raise DeadlinePassed

    def until_deadline(self) -> "FillControl":
        """Return a control with which reading a context ends at the deadline, by DeadlinePassed.

        A fill that is late before it begins reads on: it still gives a text.
        """
        if self.deadline is None or self.is_late:
            return self
        return replace(self, checkpoint=self.checkpoint_in_time)

    @staticmethod
    def for_request(
        request: Fill,
        *,
        received_at: float,
        on_step: Callable[[Step], None] | None = None,
        checkpoint: Callable[[], None] = no_preemption,
    ) -> "FillControl":
        """Return the control of a request; its ``deadline_ms`` counts from ``received_at``."""
        limit_ms = request.deadline_ms
        return FillControl(
            received_at=received_at,
            deadline=None if limit_ms is None else received_at + limit_ms / 1000,
            on_step=on_step,
            checkpoint=checkpoint,
        )


NO_CONTROL = FillControl()
"""No deadline, no step reports, no preemption."""
