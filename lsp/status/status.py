"""How suggestions are doing, in one word and a few figures: facts come in, ``Status`` goes out.

Pure; ``status_line.py`` gathers the facts and tells the client.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from intarsia.engine.ipc.messages import LoadProgress

State: TypeAlias = Literal["off", "starting", "loading", "ready", "working", "failed"]


class LastAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The last request that was answered. What the engine did is None where it was not asked."""

    uri: str
    shown: bool
    reason: str | None  # why nothing was shown
    failed: bool  # the reason is a fault
    ms: float | None
    read_ms: float | None
    passes: int | None
    tokens_read: int | None
    tokens_reused: int | None
    tokens_written: int | None
    mean_entropy: float | None
    from_cache: bool


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What the client gets to know."""

    state: State
    model: str | None
    message: str | None
    progress: float | None
    last: LastAnswer | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What is known of settings, engine and requests."""

    is_enabled: bool = True
    num_waiting: int = 0  # fills and preloads that the engine owes an answer
    num_fills: int = 0  # of them
    is_up: bool = False  # the engine has answered, its connection has held since, and …
    asked: str | None = None  # … this is the model that it was asked for (None: the default)
    loading: "LoadProgress | None" = None  # while somebody waits for it
    failure: str | None = None  # since the last answer
    model: str | None = None
    last: LastAnswer | None = None


def status_of(facts: Facts) -> Status:
    """Return the one state that tells the user most. A failure holds until something goes right."""
    state, message, progress = _state(facts), None, None
    if state == "failed":
        message = facts.failure
    elif state == "loading" and facts.loading is not None:
        message, progress = facts.loading.stage, facts.loading.fraction
    return Status(
        state=state, model=facts.model, message=message, progress=progress, last=facts.last
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
