"""The status and the drafts of suggestions, sent to clients that requested them.

The status is a pure function of the known ``Facts``. ``StatusReporter`` gathers what happens, and
sends the whole status with each change, at most ten times a second. ``intarsia/draft`` shows a
suggestion while it settles, at most 20 times a second; never after the request has ended or the
document has changed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import msgspec
from lsprotocol import types

from intarsia.engine.ipc.messages import AheadReport, CanvasToken, LoadProgress, Step, summed
from intarsia.engine.ipc.throttle import Throttle
from intarsia.infill.suggestion import ConfidentToken
from intarsia.infill.syntax.text import first_hidden, newline_of
from intarsia.lsp.documents import Documents, Snapshot
from intarsia.lsp.protocol_extensions import DRAFT, STATUS

ShownOf: TypeAlias = Callable[[Step], Step | None]
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

    @property
    def told(self) -> tuple[str, ...]:
        """The outcome and the figures in lines, as editors show them."""
        why = "" if self.reason is None else f": {self.reason}"
        outcome = "a suggestion was shown" if self.shown else f"nothing was shown{why}"
        figures = (
            (self.ms, "{:.0f} ms"),
            (self.num_forwards, "{} forward passes"),
            (self.tokens_read, "{} tokens read"),
            (self.tokens_reused, "{} reused"),
        )
        known = [words.format(value) for value, words in figures if value is not None]
        if self.from_cache:
            known.append("known before, not asked again")
        return (f"Last: {outcome}", *([" · ".join(known)] if known else []))


class Ahead(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The gain of fills ahead of the user so far."""

    asked: int = 0
    hits: int = 0  # those that answered a request
    spent_seconds: float = 0.0
    wasted_seconds: float = 0.0  # of these, for fills that have answered no request

    def plus(self, report: AheadReport) -> "Ahead":
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
        return summed(self, other)


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The content of ``intarsia/status``."""

    state: State
    model: str | None
    message: str | None
    progress: float | None
    last: LastRequest | None
    told: tuple[str, ...] = ()  # the last request in words
    ahead: Ahead
    next_edits: NextEditCounts = msgspec.field(default=NextEditCounts(), name="nextEdits")


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """The present state of settings, engine and requests."""

    is_enabled: bool = True
    num_waiting: int = 0  # fills and preloads that wait for the engine
    num_fills: int = 0  # fills among these
    is_up: bool = False  # the engine answered for the requested model, and is still connected
    requested_model: str | None = None  # None: the engine's default
    loading: LoadProgress | None = None  # while a request waits for it
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
        told=() if facts.last is None else facts.last.told,
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

    def loading(self, progress: LoadProgress) -> None:
        """Show the load's progress, while a request waits for it. Late reports are dropped."""
        if self._facts.num_waiting and not self._facts.is_up:
            self._update(loading=progress, failure=None)

    def engine_answered(self, model: str | None) -> None:
        self._update(is_up=True, loading=None, failure=None, model=model)

    def failed(self, message: str) -> None:
        """Show the engine's failure. ``message``: what failed, and what to do."""
        self._update(is_up=False, loading=None, failure=message)

    def request_answered(self, last: LastRequest) -> None:
        self._update(last=last)

    def count_ahead(self, count: AheadReport) -> None:
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


DRAFT_INTERVAL_S = 1 / 20


class DraftToken(msgspec.Struct, frozen=True):
    text: str
    confidence: float | None  # 0 to 1; None: the model's server does not say
    settled: bool


class Draft(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The suggestion after ``step`` forward passes."""

    text_document: types.VersionedTextDocumentIdentifier
    range: types.Range
    step: int
    tokens: tuple[DraftToken, ...]
    revised: bool = False  # an answer that was given has become this one


class Drafts:
    """Sends one client the drafts of its requests."""

    def __init__(self, notify: Callable[[str, object], None], documents: Documents) -> None:
        self._notify = notify
        self._documents = documents
        self._throttle: Throttle[tuple[Snapshot, Step, ShownOf]] = Throttle(
            self._send, DRAFT_INTERVAL_S
        )

    @contextmanager
    def of(
        self, snapshot: Snapshot, shown_of: ShownOf = lambda step: step
    ) -> Iterator[Callable[[Step], None]]:
        """Yield a function that takes the steps of a fill at the snapshot's cursor.

        Of each that is sent, ``shown_of`` returns what is shown; None: nothing yet.
        """

        def on_step(step: Step) -> None:
            self._throttle.put((snapshot, step, shown_of))

        try:
            yield on_step
        finally:
            self._throttle.drop()

    def revise(self, snapshot: Snapshot, tokens: Sequence[ConfidentToken]) -> None:
        """Announce that the answer at the snapshot's cursor is another one now, if that is current.

        The client asks again to show it.
        """
        if snapshot.is_current(self._documents):
            drafted = tuple(DraftToken(token.text, token.confidence, True) for token in tokens)
            draft = _draft_at(snapshot, 0, drafted)
            self._notify(DRAFT, msgspec.structs.replace(draft, revised=True))

    def _send(self, progress: tuple[Snapshot, Step, ShownOf]) -> None:
        snapshot, step, shown_of = progress
        if snapshot.is_current(self._documents) and (shown := shown_of(step)) is not None:
            self._notify(DRAFT, _draft(snapshot, shown))


def _draft(snapshot: Snapshot, step: Step) -> Draft:
    newline = newline_of(snapshot.document.text)
    seen = first_hidden("".join(token.text for token in step.tokens), snapshot.text)
    tokens = tuple(
        DraftToken(token.text.replace("\n", newline), token.confidence, token.is_settled)
        for token in _until(step.tokens, seen)
    )
    return _draft_at(snapshot, step.step, tokens)


def _until(tokens: Sequence[CanvasToken], end: int | None) -> Iterator[CanvasToken]:
    """Yield the tokens up to this offset of their text, None for all."""
    at = 0
    for token in tokens:
        if end is not None and at + len(token.text) > end:
            if end > at:
                yield msgspec.structs.replace(token, text=token.text[: end - at])
            return
        yield token
        at += len(token.text)


def _draft_at(snapshot: Snapshot, step: int, tokens: tuple[DraftToken, ...]) -> Draft:
    document = snapshot.document
    return Draft(
        text_document=types.VersionedTextDocumentIdentifier(
            uri=document.uri, version=document.version
        ),
        range=snapshot.range_at_cursor(),
        step=step,
        tokens=tokens,
    )
