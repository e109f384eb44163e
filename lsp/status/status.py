"""The status that clients see, as a pure function of the known ``Facts``, and its sending.

``StatusReporter`` gathers what happens, and sends the whole status with each change, at most ten
times a second, to a client that requested it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from intarsia.engine.ipc.throttle import Throttle
from intarsia.lsp.protocol_extensions import STATUS

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import AheadReport, LoadProgress


State: TypeAlias = Literal["off", "starting", "loading", "ready", "working", "failed"]


class LastRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The last answered request. The engine's figures are None where the engine was not asked."""

    uri: str
    shown: bool
    reason: str | None  # why nothing was shown
    unsure: bool  # there is a text, and the threshold hid it: a request by a key shows it
    failed: bool  # the reason is an error
    ms: float | None
    read_ms: float | None
    num_forwards: int | None
    tokens_read: int | None
    tokens_reused: int | None
    tokens_written: int | None
    mean_entropy: float | None
    from_cache: bool


class Ahead(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What fills ahead of the user have brought so far."""

    asked: int = 0
    hits: int = 0  # those that answered a request
    spent_seconds: float = 0.0
    wasted_seconds: float = 0.0  # of these, for fills that have answered no request

    def plus(self, report: "AheadReport") -> "Ahead":
        """Return the sum with what another fill or hit has brought."""
        return Ahead(
            asked=self.asked + report.num_asked,
            hits=self.hits + report.num_hits,
            spent_seconds=self.spent_seconds + report.spent_s,
            wasted_seconds=self.wasted_seconds + report.spent_s - report.used_s,
        )


class NextEditCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many edits were looked at for next edits, and what became of the offers."""

    settled: int = 0
    offered: int = 0
    accepted: int = 0
    dismissed: int = 0

    def plus(self, other: "NextEditCounts") -> "NextEditCounts":
        mine, others = msgspec.structs.asdict(self), msgspec.structs.asdict(other)
        return NextEditCounts(**{name: mine[name] + others[name] for name in mine})


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``intarsia/status``."""

    state: State
    model: str | None
    message: str | None
    progress: float | None
    last: LastRequest | None
    ahead: Ahead
    next_edits: NextEditCounts = msgspec.field(default=NextEditCounts(), name="nextEdits")


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What is known about settings, engine and requests."""

    is_enabled: bool = True
    num_waiting: int = 0  # fills and preloads that wait for the engine
    num_fills: int = 0  # fills among these
    is_up: bool = False  # the engine answered for the requested model, and is still connected
    requested_model: str | None = None  # None: the engine's default
    loading: "LoadProgress | None" = None  # while a request waits for it
    failure: str | None = None  # since the last answer
    model: str | None = None
    last: LastRequest | None = None
    ahead: Ahead = field(default_factory=Ahead)
    next_edits: NextEditCounts = field(default_factory=NextEditCounts)


def status_of(facts: Facts) -> Status:
    """Return the state that matters most to the user. A failure lasts until the next success."""
    state, message, progress = _state(facts), None, None
    if state == "failed":
        message = facts.failure
    elif state == "loading" and facts.loading is not None:
        message, progress = facts.loading.stage, facts.loading.fraction
    return Status(
        state=state,
        model=facts.model,
        message=message,
        progress=progress,
        last=facts.last,
        ahead=facts.ahead,
        next_edits=facts.next_edits,
    )


def _state(facts: Facts) -> State:
    if not facts.is_enabled:
        return "off"
    if facts.loading is not None:
        return "loading"
    if facts.failure is not None:
        return "failed"
    if facts.num_waiting and not facts.is_up:
        return "starting"
    return "working" if facts.num_fills else "ready"


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
