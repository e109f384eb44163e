"""The state of ghost text and of the menu's items: what is known, what runs, what is read next.

A request runs after a pause in typing, and only the newest one of a document. A key ends the
request before it. If its fill ended, too, a machine that needs longer for a fill than the user for
a key would never answer: so it goes on while its answer may begin with what was typed.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from typing import Any, Self

from intarsia.engine.ipc.messages import AheadReport, Step
from intarsia.infill.canvas import FirstWindow, Window
from intarsia.infill.filling.described_body import asking_for_body
from intarsia.infill.filling.plan import FillPlan, plan_at_cursor
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import closed_behind, ends_of_closers
from intarsia.lsp.ahead_chain import AheadChain
from intarsia.lsp.documents import DocumentChange, Snapshot
from intarsia.lsp.ghost_text import GhostText, RequestOutcome
from intarsia.lsp.manners import Strain
from intarsia.lsp.session import Feature, Session
from intarsia.lsp.snapshots import refusal_of_fence
from intarsia.lsp.status import Drafts

MAX_WINDOWS = 8
"""Places of one document between which a user may go back and forth."""

MAX_DOCUMENTS = 100


class Windows:
    """Which parts of the documents used last the model was shown, so that the next request keeps
    them: the engine reuses what it has read of a window while its edges stay."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, tuple[Window, ...]] = OrderedDict()  # by URI

    def of(self, uri: str) -> Sequence[Window]:
        """Return the document's windows, the newest first."""
        return self._of.get(uri, ())

    def remember(self, uri: str, window: Window) -> None:
        """Put a window first; it replaces one with the same start."""
        others = [it for it in self.of(uri) if (it.start, it.head) != (window.start, window.head)]
        self._of[uri] = (window, *others[: MAX_WINDOWS - 1])
        self._of.move_to_end(uri)
        if len(self._of) > MAX_DOCUMENTS:
            self._of.popitem(last=False)


QUICK_SUCCESSION = 2.0
"""Requests follow each other quickly if they are at most this many waits apart."""


class Debounce:
    """Remembers when the last request came, and for which document."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: tuple[str, float] | None = None

    def seconds_to_wait(self, uri: str, debounce_ms: int) -> float:
        """Record a request for this document; return how long it waits."""
        now, last = self._clock(), self._last
        self._last = (uri, now)
        wait_s = debounce_ms / 1000
        is_quick = (
            last is not None and last[0] == uri and now - last[1] <= QUICK_SUCCESSION * wait_s
        )
        return wait_s if is_quick else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedSuggestions:
    """The suggestions at a cursor, best first. ``is_complete``: alternatives were requested.

    ``reason`` says why there are none at this very cursor. ``ahead_s``: the seconds of a fill ahead
    of the user, until it answers a request.
    """

    ghosts: tuple[GhostText, ...] = ()
    is_complete: bool = False
    reason: str | None = None
    kind: str = "other"  # of the reason
    ahead_s: float | None = None

    def after_typing(self, typed: str, behind: str = "") -> "CachedSuggestions | None":
        """Return the rests of those that start with ``typed``; None where nothing is known.

        They end where they write what an editor has closed ``behind`` the cursor.
        """
        rests = [rest for ghost in self.ghosts if (rest := ghost.after_typing(typed))]
        ends = (rest.until_closed(behind) for rest in rests) if behind else rests
        ghosts = tuple(ghost for ghost in ends if ghost is not None)
        if ghosts:
            return replace(self, ghosts=ghosts)
        return self if self.reason is not None and not typed else None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    uri: str
    cursor: int
    before: int  # hash of the text before the cursor
    after: int  # hash of the text after it


class SuggestionCache:
    """The newest suggestions, found again while the user types them.

    An entry is keyed by hashes of the text before and after its cursor: after an edit elsewhere it
    no longer matches, but for what an editor closes as the user types. The entry used last is tried
    first, so that the shown suggestion stays.
    """

    def __init__(self, capacity: int = 200) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[_Place, CachedSuggestions] = OrderedDict()

    def has(self, snapshot: Snapshot) -> bool:
        """Whether something is known of this very cursor."""
        return _place_of(snapshot) in self._entries

    def store(self, snapshot: Snapshot, suggestions: CachedSuggestions) -> None:
        place = _place_of(snapshot)
        self._entries[place] = suggestions
        self._entries.move_to_end(place)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def lookup(self, snapshot: Snapshot) -> CachedSuggestions:
        """Return the suggestions made here, or made before text that was typed since.

        That nothing fits here counts only if none of the suggestions goes on. What was asked ahead
        of the user is so only the first time.
        """
        uri, text, offset = snapshot.document.uri, snapshot.text, snapshot.offset
        before = cache(lambda cursor: hash(text[:cursor]))  # many entries share a cursor
        ends = {hash(text[end:]): end for end in (offset, *ends_of_closers(text, offset))}
        best: tuple[_Place, CachedSuggestions] | None = None
        for place, suggestions in reversed(self._entries.items()):
            end = ends.get(place.after)
            if place.uri != uri or end is None or place.cursor > offset:
                continue
            behind = text[offset:end]
            if behind and behind != closed_behind(text, place.cursor, offset):
                continue
            found = suggestions.after_typing(text[place.cursor : offset], behind)
            if found is not None and place.before == before(place.cursor):
                best = best if best and not found.ghosts else (place, found)
                if found.ghosts:
                    break
        if best is None:
            return CachedSuggestions()
        self._entries[best[0]] = replace(self._entries[best[0]], ahead_s=None)
        self._entries.move_to_end(best[0])
        return best[1]

    def clear(self) -> None:
        self._entries.clear()

    def forget(self, uri: str) -> None:
        """Forget the suggestions in a document."""
        for place in [it for it in self._entries if it.uri == uri]:
            del self._entries[place]


def _place_of(snapshot: Snapshot) -> _Place:
    text, offset = snapshot.text, snapshot.offset
    return _Place(
        uri=snapshot.document.uri,
        cursor=offset,
        before=hash(text[:offset]),
        after=hash(text[offset:]),
    )


logger = logging.getLogger(__name__)

PATIENCE_S = 0.5
"""How long a fill goes on that no later request waits for."""

_MAX_WAIT_S = 2
"""How long a request waits for an older fill. A new one finds out whether the engine hangs."""


@dataclass(kw_only=True, slots=True)
class UnfinishedFill:
    """A fill of a snapshot: what of its text is settled, and what has been typed since."""

    snapshot: Snapshot
    task: asyncio.Task[RequestOutcome] = field(init=False)
    written: str = ""
    typed: str = ""
    num_waiting: int = 0

    def follow(self, step: Step, *, show: Callable[[Step], None] | None) -> None:
        """Note the settled beginning of the text; end the fill if another text was typed."""
        settled = takewhile(lambda token: token.is_settled, step.tokens)
        self.written = "".join(token.text for token in settled)
        if not self._agrees():
            self.task.cancel()
        if show is not None:
            show(step)

    def goes_on_to(self, text: str, offset: int) -> bool:
        """Whether this may be the snapshot's text with the beginning of the fill typed at its
        cursor; the cursor is now at ``offset``."""
        before, after = self.snapshot.text[: self.snapshot.offset], self.snapshot.offset
        rest = self.snapshot.text[after:]
        if offset < after or not text.startswith(before):
            return False
        if text[offset:] not in (rest, closed_behind(text, after, offset) + rest):
            return False
        self.typed = text[after:offset]
        return self._agrees()

    def _agrees(self) -> bool:
        written, typed = self.written.lstrip(), self.typed.lstrip()
        return written.startswith(typed) or typed.startswith(written)


def _log_error(task: asyncio.Task[RequestOutcome]) -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.error("a suggestion failed: %r", error)


class UnfinishedFills:
    """At most one of each document."""

    def __init__(self) -> None:
        self._fills: dict[str, UnfinishedFill] = {}

    def keep(self, fill: UnfinishedFill) -> None:
        """Let a fill go on whose request has ended."""
        uri = fill.snapshot.document.uri
        self.end(uri)
        self._fills[uri] = fill
        fill.task.add_done_callback(_log_error)
        asyncio.get_running_loop().call_later(PATIENCE_S, self._end_unless_awaited, fill)

    async def finished(self, snapshot: Snapshot) -> bool:
        """Wait for the document's fill if it may answer here, else end it; say whether it may."""
        uri = snapshot.document.uri
        fill = self._fills.get(uri)
        if fill is None:
            return False
        if not fill.goes_on_to(snapshot.text, snapshot.offset):
            self.end(uri)
            return False
        fill.num_waiting += 1
        try:
            done, _ = await asyncio.wait({fill.task}, timeout=_MAX_WAIT_S)
        finally:
            fill.num_waiting -= 1
            asyncio.get_running_loop().call_later(PATIENCE_S, self._end_unless_awaited, fill)
        if not done:
            self.end(uri)
        return bool(done)

    def end(self, uri: str) -> None:
        """Cancel the document's fill, if one goes on."""
        if fill := self._fills.pop(uri, None):
            fill.task.cancel()

    def end_all(self) -> None:
        for uri in list(self._fills):
            self.end(uri)

    def _end_unless_awaited(self, fill: UnfinishedFill) -> None:
        uri = fill.snapshot.document.uri
        if not fill.num_waiting:
            fill.task.cancel()
            if self._fills.get(uri) is fill:
                del self._fills[uri]


class Suggestions(Feature):
    """The suggestions of all documents. They are forgotten where the settings change."""

    def __init__(self, session: Session) -> None:
        self.strain = session.feature(Strain)
        self.windows = Windows()  # read whole, as the settings allow
        self.first_windows = Windows()  # read for a first answer
        self.cache = SuggestionCache()
        self.requests: dict[str, asyncio.Task[Any]] = {}  # the newest one of each document
        self.unfinished = UnfinishedFills()
        self.ahead = AheadChain(self._count_ahead)
        self.debounce = Debounce()
        self.drafts = Drafts(session.notify, session.documents)
        self._session = session

    @classmethod
    def for_session(cls, session: Session) -> Self:
        return cls(session)

    def end_request(self, uri: str) -> None:
        """Cancel the document's request, if one runs."""
        if task := self.requests.pop(uri, None):
            task.cancel()

    def changed(self, change: DocumentChange) -> None:
        if self.ahead.is_running:
            uri = change.after.uri
            around = self._session.documents.text_around(uri)
            self.ahead.document_changed(uri, around.before + change.after.text + around.after)

    def cells_changed(self) -> None:
        self.ahead.end()

    def closed(self, uri: str) -> None:
        self.end_request(uri)
        self._forget(uri)

    def configured(self, uris: Collection[str] | None) -> None:
        if uris is None:
            self.cache.clear()
            self.unfinished.end_all()
            self.ahead.end()
        for uri in uris or ():
            self._forget(uri)

    async def close(self) -> None:
        for uri in list(self.requests):
            self.end_request(uri)
        self.unfinished.end_all()
        self.ahead.end()

    def _forget(self, uri: str) -> None:
        self.cache.forget(uri)
        self.unfinished.end(uri)
        self.ahead.document_closed(uri)

    def _count_ahead(self, count: AheadReport) -> None:
        """Put what a fill ahead of the user brought into the status, and tell the engine."""
        self._session.status.count_ahead(count)
        self._session.engine.report_ahead(count)


FIRST_BUDGET = {"prefix_tokens": 500, "suffix_tokens": 150}
"""The most that is read for the first answer at a new place; the rest is read in idle time."""


def plan_suggestion(suggestions: Suggestions, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Find the hole at the cursor and cut the text around it to what is read for this answer.

    The document's next plan keeps the edges of this one where it can.
    """
    plan = plan_ahead(suggestions, snapshot)
    if isinstance(plan, FillPlan):
        windows = suggestions.first_windows if plan.canvas.is_short else suggestions.windows
        windows.remember(snapshot.document.uri, plan.canvas.window)
    return plan


def plan_ahead(suggestions: Suggestions, snapshot: Snapshot) -> FillPlan | NoSuggestion:
    """Plan a fill as for a request, for a text that the document may have next; forget it.

    It reads less where the rest would be read in idle time.
    """
    first = None
    if suggestions.strain.allows_idle_work(snapshot.settings):
        earlier = suggestions.first_windows.of(snapshot.document.uri)
        first = FirstWindow(**FIRST_BUDGET, earlier=earlier)
    return plan_whole(suggestions, snapshot, first)


def plan_whole(
    suggestions: Suggestions, snapshot: Snapshot, first: FirstWindow | None = None
) -> FillPlan | NoSuggestion:
    """Plan a fill with all that the settings allow to be read, or with ``first`` less."""
    plan = plan_at_cursor(
        snapshot.text,
        snapshot.offset,
        snapshot.language,
        snapshot.options,
        suggestions.windows.of(snapshot.document.uri),
        first,
        is_word_whole=snapshot.selected is not None,
    )
    if isinstance(plan, NoSuggestion):
        return plan
    is_fenced = plan.hole.code.language is not snapshot.language
    if is_fenced and (refusal := refusal_of_fence(snapshot)):
        return refusal
    return plan if plan.hole.kind == "line" else asking_for_body(plan, at_cursor=True)
