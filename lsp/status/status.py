"""The status that clients see (``Status``), as a pure function of the known ``Facts``.

``StatusReporter`` gathers the facts and sends the status.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

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
        """Return the sum."""
        return NextEditCounts(
            settled=self.settled + other.settled,
            offered=self.offered + other.offered,
            accepted=self.accepted + other.accepted,
            dismissed=self.dismissed + other.dismissed,
        )


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
