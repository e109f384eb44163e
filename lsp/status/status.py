"""The status that clients see (``Status``), as a pure function of the known ``Facts``.

``StatusReporter`` gathers the facts and sends the status.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import LoadProgress


@dataclass(frozen=True, kw_only=True, slots=True)
class AheadCount:
    """The sum so far, or what one fill or one hit adds to it."""

    num_asked: int = 0
    num_hits: int = 0  # fills that answered a request
    spent_s: float = 0.0  # time of all fills
    used_s: float = 0.0  # time of the hits

    def plus(self, other: "AheadCount") -> "AheadCount":
        """Return the sum."""
        return AheadCount(
            num_asked=self.num_asked + other.num_asked,
            num_hits=self.num_hits + other.num_hits,
            spent_s=self.spent_s + other.spent_s,
            used_s=self.used_s + other.used_s,
        )


NO_COUNT = AheadCount()
"""What no fill has brought."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NextEditCount:
    """The sum so far, or what one event adds to it."""

    num_settled: int = 0  # edits that were looked at
    num_offered: int = 0
    num_accepted: int = 0
    num_dismissed: int = 0

    def plus(self, other: "NextEditCount") -> "NextEditCount":
        """Return the sum."""
        return NextEditCount(
            num_settled=self.num_settled + other.num_settled,
            num_offered=self.num_offered + other.num_offered,
            num_accepted=self.num_accepted + other.num_accepted,
            num_dismissed=self.num_dismissed + other.num_dismissed,
        )


NO_NEXT_EDITS = NextEditCount()
"""The count of no edit."""


State: TypeAlias = Literal["off", "starting", "loading", "ready", "working", "failed"]


class LastRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The last answered request. The engine's figures are None where the engine was not asked."""

    uri: str
    shown: bool
    reason: str | None  # why nothing was shown
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


class NextEditsSoFar(msgspec.Struct, frozen=True, kw_only=True):
    """How many edits were looked at for next edits, and what became of the offers."""

    settled: int = 0
    offered: int = 0
    accepted: int = 0
    dismissed: int = 0


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``intarsia/status``."""

    state: State
    model: str | None
    message: str | None
    progress: float | None
    last: LastRequest | None
    ahead: Ahead
    next_edits: NextEditsSoFar = msgspec.field(default=NextEditsSoFar(), name="nextEdits")


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
    ahead: AheadCount = NO_COUNT
    next_edits: NextEditCount = NO_NEXT_EDITS


def status_of(facts: Facts) -> Status:
    """Return the state that matters most to the user. A failure lasts until the next success."""
    state, message, progress = _state(facts), None, None
    if state == "failed":
        message = facts.failure
    elif state == "loading" and facts.loading is not None:
        message, progress = facts.loading.stage, facts.loading.fraction
    ahead, next_edits = facts.ahead, facts.next_edits
    return Status(
        state=state,
        model=facts.model,
        message=message,
        progress=progress,
        last=facts.last,
        ahead=Ahead(
            asked=ahead.num_asked,
            hits=ahead.num_hits,
            spent_seconds=ahead.spent_s,
            wasted_seconds=ahead.spent_s - ahead.used_s,
        ),
        next_edits=NextEditsSoFar(
            settled=next_edits.num_settled,
            offered=next_edits.num_offered,
            accepted=next_edits.num_accepted,
            dismissed=next_edits.num_dismissed,
        ),
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
