"""``intarsia/status``: hears of all that happens and tells a client that asked, once it changes.

The whole status goes out each time, at most ten times a second.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from intarsia.engine.ipc.throttle import Throttle
from intarsia.lsp.extensions import STATUS
from intarsia.lsp.status.status import Facts, LastAnswer, Status, status_of

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import LoadProgress

INTERVAL_S = 1 / 10


class StatusReporter:
    """What is known so far; silent until it is started."""

    def __init__(self, notify: Callable[[str, object], None]) -> None:
        self._notify = notify
        self._facts = Facts()
        self._sent: Status | None = None
        self._throttle: Throttle[Status] | None = None

    @property
    def is_started(self) -> bool:
        return self._throttle is not None

    def start(self) -> None:
        """Tell the client from now on."""
        self._throttle = Throttle(self._send, INTERVAL_S)
        self._throttle.put(status_of(self._facts))

    def stop(self) -> None:
        """Say no more."""
        if self._throttle is not None:
            self._throttle.drop()
            self._throttle = None

    def enabled(self, is_enabled: bool) -> None:
        self._now(is_enabled=is_enabled)

    @contextmanager
    def asking(self, model: str | None, *, is_connected: bool, is_fill: bool) -> Iterator[None]:
        """The engine is asked for as long as the block runs."""
        facts, one_fill = self._facts, int(is_fill)
        self._now(
            num_waiting=facts.num_waiting + 1,
            num_fills=facts.num_fills + one_fill,
            is_up=facts.is_up and is_connected and model == facts.asked,
            asked=model,
        )
        try:
            yield
        finally:
            facts = self._facts
            num_waiting = facts.num_waiting - 1
            self._now(
                num_waiting=num_waiting,
                num_fills=facts.num_fills - one_fill,
                loading=facts.loading if num_waiting else None,
            )

    def loading(self, progress: "LoadProgress") -> None:
        """The engine loads a model: shown to who waits for it. Late reports of a load are not."""
        if self._facts.num_waiting and not self._facts.is_up:
            self._now(loading=progress, failure=None)

    def engine_answered(self, model: str | None) -> None:
        self._now(is_up=True, loading=None, failure=None, model=model)

    def failed(self, message: str) -> None:
        """``message``: what, and what to do."""
        self._now(is_up=False, loading=None, failure=message)

    def request_answered(self, last: LastAnswer) -> None:
        self._now(last=last)

    def _now(self, **changes: Any) -> None:
        self._facts = replace(self._facts, **changes)
        if self._throttle is not None:
            self._throttle.put(status_of(self._facts))

    def _send(self, status: Status) -> None:
        if status != self._sent:
            self._sent = status
            self._notify(STATUS, status)
