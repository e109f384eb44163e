"""``intarsia/status``: gathers what happens, and sends changes to a client that requested them.

Each notification holds the whole status; at most ten are sent a second.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from intarsia.engine.ipc.throttle import Throttle
from intarsia.lsp.protocol_extensions import STATUS
from intarsia.lsp.status.status import Facts, LastRequest, NextEditCounts, Status, status_of

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import AheadReport, LoadProgress

INTERVAL_S = 1 / 10


class StatusReporter:
    """Keeps the facts, and sends the status from ``start`` to ``stop``."""

    def __init__(self, notify: Callable[[str, object], None]) -> None:
        self._notify = notify
        self._facts = Facts()
        self._sent: Status | None = None
        self._throttle: Throttle[Status] | None = None

    @property
    def is_started(self) -> bool:
        return self._throttle is not None

    @property
    def model(self) -> str | None:
        """The model that answered last, None before the first answer."""
        return self._facts.model

    def start(self) -> None:
        """Send the status now and at each change."""
        self._throttle = Throttle(self._send, INTERVAL_S)
        self._throttle.put(status_of(self._facts))

    def stop(self) -> None:
        """Send nothing more."""
        if self._throttle is not None:
            self._throttle.drop()
            self._throttle = None

    def set_enabled(self, is_enabled: bool) -> None:
        self._update(is_enabled=is_enabled)

    @contextmanager
    def busy(self, model: str | None, *, is_connected: bool, is_fill: bool) -> Iterator[None]:
        """Count a request to the engine while the block runs."""
        facts, one_fill = self._facts, int(is_fill)
        self._update(
            num_waiting=facts.num_waiting + 1,
            num_fills=facts.num_fills + one_fill,
            is_up=facts.is_up and is_connected and model == facts.requested_model,
            requested_model=model,
        )
        try:
            yield
        finally:
            facts = self._facts
            num_waiting = facts.num_waiting - 1
            self._update(
                num_waiting=num_waiting,
                num_fills=facts.num_fills - one_fill,
                loading=facts.loading if num_waiting else None,
            )

    def loading(self, progress: "LoadProgress") -> None:
        """Take the load's progress, while a request waits for it. Late reports are dropped."""
        if self._facts.num_waiting and not self._facts.is_up:
            self._update(loading=progress, failure=None)

    def engine_answered(self, model: str | None) -> None:
        self._update(is_up=True, loading=None, failure=None, model=model)

    def failed(self, message: str) -> None:
        """Take the engine's failure. ``message``: what failed, and what to do."""
        self._update(is_up=False, loading=None, failure=message)

    def request_answered(self, last: LastRequest) -> None:
        self._update(last=last)

    def count_ahead(self, count: "AheadReport") -> None:
        """Add what a fill ahead of the user brought."""
        self._update(ahead=self._facts.ahead.plus(count))

    def count_next_edits(self, count: NextEditCounts) -> None:
        """Add edits that were looked at, and what became of offers."""
        self._update(next_edits=self._facts.next_edits.plus(count))

    def _update(self, **changes: Any) -> None:
        self._facts = replace(self._facts, **changes)
        if self._throttle is not None:
            self._throttle.put(status_of(self._facts))

    def _send(self, status: Status) -> None:
        if status != self._sent:
            self._sent = status
            self._notify(STATUS, status)
