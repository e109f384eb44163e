"""Decides when an automatic request gets no suggestion, and follows what becomes of those shown.

After three dismissals a line is silent until it has become another one, or the document is closed.
After a change that is not typing (a deletion, undo, a paste, a formatter's edits) the changed lines
are silent until the next typed character. Comments and strings are silent by the settings
(``snapshots.py``). On battery, or where this computer is busy, suggestions are slower, or off. An
accepted text is looked for half a minute later: one that was taken back by then was unwanted.
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, Self, TypeVar

import psutil
from lsprotocol import types

from intarsia.infill.holes.hole import is_word_character
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.text import line_at, line_end, line_start, replaced_range
from intarsia.infill.text_change import (
    ChangeKind,
    Followed,
    RecentTexts,
    TextChange,
    TextRange,
    kind_of,
    trimmed_change,
)
from intarsia.lsp.documents import Document, DocumentChange, Documents, Snapshot
from intarsia.lsp.ghost_text import RequestOutcome
from intarsia.lsp.session import Feature, Session
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshots import prose_silence
from intarsia.lsp.statistics import LanguageCounts, Recorder

POWER_READ_EVERY_S, LOAD_READ_EVERY_S = 30.0, 10.0
BUSY_PER_CORE = 3.0
"""Programs that want a core, per core. The engine alone wants one for each."""

T = TypeVar("T")


class LastKnown(Generic[T]):
    """A reading of the system, repeated after some seconds."""

    def __init__(
        self, read: Callable[[], T], every_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._every_s, self._clock = read, every_s, clock
        self._known: tuple[T, float] | None = None  # and when it was read

    def __call__(self) -> T:
        now = self._clock()
        if self._known is None or now - self._known[1] >= self._every_s:
            self._known = self._read(), now
        return self._known[0]


def runs_on_battery() -> bool:
    """Ask the system. A computer without a battery, or that does not tell, runs on mains."""
    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, RuntimeError):  # AttributeError: not on this system
        return False
    return battery is not None and battery.power_plugged is False


def load_per_core() -> float:
    """Return the load average of the last minute for each core; 0 where the system tells none."""
    try:
        return psutil.getloadavg()[0] / (os.cpu_count() or 1)
    except (AttributeError, OSError):
        return 0.0


SLOWNESS = 4
"""How many times longer a key waits for the next one."""


class Strain(Feature):
    """The settings' answer for a computer with this source of power and this load."""

    def __init__(self, is_on_battery: Callable[[], bool], load: Callable[[], float]) -> None:
        """``load`` returns how many programs want a core, for each core."""
        self._is_on_battery = is_on_battery
        self._load = load

    @classmethod
    def for_session(cls, _session: Session) -> Self:
        return cls(
            LastKnown(runs_on_battery, POWER_READ_EVERY_S),
            LastKnown(load_per_core, LOAD_READ_EVERY_S),
        )

    def allows_idle_work(self, settings: Settings) -> bool:
        """Whether the engine may work ahead of the user."""
        setting = settings.fill_ahead
        return setting == "always" or (setting == "onPower" and not self._is_on_battery())

    def silence(self, settings: Settings) -> NoSuggestion | None:
        """Return why nothing is suggested automatically now, None where something is."""
        if settings.on_battery == "off" and self._is_on_battery():
            return NoSuggestion(reason="the computer is on battery (onBattery)", kind="battery")
        if settings.when_busy == "off" and self._load() > BUSY_PER_CORE:
            return NoSuggestion(reason="the computer is busy (whenBusy)", kind="busy")
        return None

    def slowness(self, settings: Settings) -> int:
        """Return how many times longer a key waits for the next one."""
        is_slow = (settings.on_battery == "slower" and self._is_on_battery()) or (
            settings.when_busy == "slower" and self._load() > BUSY_PER_CORE
        )
        return SLOWNESS if is_slow else 1


_SILENT: Mapping[ChangeKind, str] = {
    "deleted": "text was just deleted here",
    "undone": "a change was just undone or redone here",
    "pasted": "text was just pasted here",
    "several": "several places were just changed at once, as a formatter does",
}


class LastChange:
    """The last change of one document, as far as it says what the user does."""

    def __init__(self) -> None:
        self._texts = RecentTexts()
        self._kind: ChangeKind = "typed"
        self._place = TextRange(start=0, end=0)
        self._is_fresh = False

    def note(self, change: TextChange, old: str, new: str, *, is_suggestion: bool) -> None:
        """Follow a change. ``is_suggestion``: it accepts our own, so it is no paste."""
        is_restored = self._texts.is_restored(old, change, new)
        if change.is_empty:
            return
        kind = "typed" if is_suggestion else kind_of(change, old, is_restored=is_restored)
        self._place = self._place.after(change)
        if kind != "blank":
            self._kind = kind
            self._place = TextRange(start=change.start, end=change.new_end)
            self._is_fresh = kind == "typed"

    def take_typed(self) -> bool:
        """Return whether anything was typed since this was asked last."""
        is_fresh, self._is_fresh = self._is_fresh, False
        return is_fresh

    def silence(self, text: str, offset: int) -> NoSuggestion | None:
        """Return why nothing is suggested at an offset, None where something may be."""
        reason = _SILENT.get(self._kind)
        if reason is None:
            return None
        start, end = line_start(text, self._place.start), line_end(text, self._place.end)
        if not start <= offset <= end:
            return None
        return NoSuggestion(reason=f"{reason}: suggestions resume once you type", kind=self._kind)


_ON_REQUEST = NoSuggestion(reason="suggestions come on request only (automatic)", kind="manual")

MOST_DISMISSED = 3
MAX_LINES = 100
"""Those dismissed first are forgotten first."""

SMALL_CHANGE = 8
"""A line that differs by at most this many characters, or by less than half, is the same line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Line:
    start: int
    text: str  # when a suggestion was dismissed last
    num_dismissed: int


class Dismissals:
    """The lines of one document where suggestions were dismissed."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []  # dismissed last: last

    def note(self, text: str, offset: int) -> None:
        known = self._at(text, offset)
        line = _Line(
            start=line_start(text, offset),
            text=line_at(text, offset),
            num_dismissed=1 if known is None else known.num_dismissed + 1,
        )
        others = [it for it in self._lines if it.start != line.start]
        self._lines = [*others[-MAX_LINES + 1 :], line]

    def move(self, change: TextChange, new: str) -> None:
        if self._lines:
            places = [TextRange(start=it.start, end=it.start).after(change) for it in self._lines]
            self._lines = [
                replace(line, start=line_start(new, place.start))
                for line, place in zip(self._lines, places, strict=True)
            ]

    def silence(self, text: str, offset: int) -> NoSuggestion | None:
        """Return why nothing is suggested at an offset, None where something may be."""
        line = self._at(text, offset)
        if line is None or line.num_dismissed < MOST_DISMISSED:
            return None
        reason = f"suggestions on this line were dismissed {line.num_dismissed} times"
        return NoSuggestion(reason=reason, kind="dismissed")

    def _at(self, text: str, offset: int) -> _Line | None:
        if not self._lines:
            return None
        start = line_start(text, offset)
        found = next((line for line in self._lines if line.start == start), None)
        return found if found and _is_same(found.text, line_at(text, offset)) else None


def _is_same(old: str, new: str) -> bool:
    start, old_end, new_end = replaced_range(old, new)
    num_changed = max(old_end, new_end) - start
    return num_changed <= max(SMALL_CHANGE, max(len(old.strip()), len(new.strip())) // 2)


KEPT_AFTER_S = 30.0
MAX_ACCEPTED = 200
"""Texts of one document that are followed at once."""


@dataclass(kw_only=True, slots=True, eq=False)
class _Accepted:
    place: TextRange
    text: str
    timer: asyncio.TimerHandle


class KeptTexts:
    """The accepted texts of one document. ``on_end`` gets whether one was kept."""

    def __init__(self, on_end: Callable[[bool], None], after_s: float = KEPT_AFTER_S) -> None:
        self._on_end = on_end
        self._after_s = after_s
        self._accepted: list[_Accepted] = []
        self._document = ""

    def add(self, place: TextRange, document: str) -> None:
        """Follow the accepted text at a place; it may be longer than what was accepted before."""
        self._document = document
        for known in [it for it in self._accepted if it.place.start == place.start]:
            self._drop(known)
        timer = asyncio.get_running_loop().call_later(self._after_s, self._end_first)
        text = document[place.start : place.end]
        self._accepted.append(_Accepted(place=place, text=text, timer=timer))
        if len(self._accepted) > MAX_ACCEPTED:
            self._end_first()

    def ends_at(self, offset: int) -> bool:
        return any(it.place.end == offset for it in self._accepted)

    def move(self, change: TextChange, document: str) -> bool:
        """Follow a change; return whether it takes all of an accepted text away."""
        self._document = document
        for accepted in self._accepted:
            accepted.place = accepted.place.after(change)
        gone = [it for it in self._accepted if it.place.start == it.place.end]
        for accepted in gone:
            self._drop(accepted)
            self._on_end(False)
        return bool(gone)

    def close(self) -> None:
        """Decide now, because the document is closed."""
        while self._accepted:
            self._end_first()

    def _end_first(self) -> None:
        accepted = self._accepted[0]
        self._drop(accepted)
        found = self._document[accepted.place.start : accepted.place.end]
        self._on_end(_without_blanks(accepted.text) in _without_blanks(found))

    def _drop(self, accepted: _Accepted) -> None:
        accepted.timer.cancel()
        self._accepted.remove(accepted)


def _without_blanks(text: str) -> str:
    return "".join(text.split())


@dataclass(kw_only=True, slots=True, eq=False)
class Watched:
    """One document."""

    count: Callable[[LanguageCounts], None]
    kept: KeptTexts
    last_change: LastChange = field(default_factory=LastChange)
    dismissals: Dismissals = field(default_factory=Dismissals)
    shown: tuple[Followed, ...] = ()  # what the client may show now: several candidates
    is_accepted: bool = False  # a part of what is shown was accepted

    def show(self, candidates: tuple[Followed, ...]) -> None:
        """Follow the answer to a request; the rest of a shown suggestion is the same suggestion."""
        known = [it for it in self.shown if it.cursor == candidates[0].cursor]
        if any(it.rest == candidates[0].rest for it in known):
            more = [it for it in candidates if all(it.rest != other.rest for other in known)]
            self.shown = (*known, *more)
            return
        self.shown, self.is_accepted = candidates, False
        self.count(LanguageCounts(shown=1))

    def change(self, change: TextChange, old: str, new: str) -> None:
        self.dismissals.move(change, new)
        if self.kept.move(change, new):
            self.dismissals.note(new, change.start)
        is_suggestion = self._follow(change, old, new)
        self.last_change.note(change, old, new, is_suggestion=is_suggestion)

    def dismiss(self, text: str, offset: int) -> None:
        """Record that the user dismissed the suggestion at an offset."""
        self.shown = ()
        self.dismissals.note(text, offset)

    def goes_on(self, offset: int) -> bool:
        """Whether a suggestion is on show that goes on at this offset."""
        return any(it.cursor == offset for it in self.shown)

    def silence(self, text: str, offset: int) -> NoSuggestion | None:
        """Return why the user wants nothing at an offset now, None where they may."""
        return self.last_change.silence(text, offset) or self.dismissals.silence(text, offset)

    def _follow(self, change: TextChange, old: str, new: str) -> bool:
        """Follow what is shown; return whether the change inserts more of it."""
        if not self.shown or change.is_empty:
            return False
        if self.is_accepted and change.growth < 0:
            self.shown = ()
            return False
        steps = [(it, it.after(change, old, new)) for it in self.shown]
        going_on = [(before, after) for before, after in steps if after is not None]
        accepted = next((after for before, after in going_on if after.is_step(before)), None)
        if accepted is not None:
            self._accept(accepted, new)
        self.shown = tuple(after for _, after in going_on if not after.is_whole)
        return change.growth > 0 and bool(going_on)

    def _accept(self, accepted: Followed, new: str) -> None:
        if not self.is_accepted:
            self.is_accepted = True
            self.count(LanguageCounts(accepted=1))
        self.kept.add(TextRange(start=accepted.start, end=accepted.cursor), new)


@dataclass(kw_only=True)
class Manners(Feature):
    """The documents of one client. ``count`` gets what is to be counted."""

    documents: Documents
    strain: Strain
    count: Callable[[str, LanguageCounts], None]
    _of: dict[str, Watched] = field(default_factory=dict)  # by URI

    @classmethod
    def for_session(cls, session: Session) -> Self:
        return cls(
            documents=session.documents,
            strain=session.feature(Strain),
            count=session.feature(Recorder).count,
        )

    def silence(self, snapshot: Snapshot) -> NoSuggestion | None:
        """Return why an automatic request gets no suggestion, None where it may get one."""
        document, settings = snapshot.document, snapshot.settings
        if snapshot.selected is not None and not settings.over_menu:
            return NoSuggestion(reason="the editor's own menu is open (overMenu)", kind="menu")
        start, typed = _begin(snapshot)
        offset = start + len(typed)
        watched = self._of.get(document.uri)
        if watched is not None and watched.goes_on(offset):
            return None
        if not settings.automatic:
            return _ON_REQUEST
        if watched is not None and (silence := watched.silence(document.text, offset)):
            return silence
        return self.strain.silence(settings) or prose_silence(snapshot)

    def is_word_accepted(self, snapshot: Snapshot) -> bool:
        """Whether the word before the cursor ends an accepted text, of which nothing is left."""
        watched, place = self._of.get(snapshot.document.uri), snapshot.place
        if watched is None or snapshot.selected is not None or watched.goes_on(place):
            return False
        text = snapshot.document.text
        return watched.kept.ends_at(place) and is_word_character(text[place - 1])

    def debounce_ms(self, snapshot: Snapshot) -> int:
        """Return how long a key waits for the next one, by the settings and the machine."""
        settings = snapshot.settings
        return settings.debounce_ms * self.strain.slowness(settings)

    def has_typed(self, uri: str) -> bool:
        """Whether anything was typed in a document since this was asked last."""
        watched = self._of.get(uri)
        return watched is not None and watched.last_change.take_typed()

    def changed(self, change: DocumentChange) -> None:
        before, after = change.before, change.after
        text_change = change_between(before, after, change.changes)
        self._watch(after).change(text_change, before.text, after.text)

    def answered(self, snapshot: Snapshot, outcome: RequestOutcome) -> None:
        """Follow the suggestions that a request is answered with: the client shows one."""
        document, ghosts = snapshot.document, outcome.ghosts
        if not ghosts or not snapshot.is_current(self.documents):
            return
        start, typed = _begin(snapshot)
        texts = [snapshot.selected_text + ghost.text for ghost in ghosts]
        candidates = [
            Followed(start=start, text=text, num_in=len(typed))
            for text in texts
            if text.startswith(typed)
        ]
        if candidates:
            self._watch(document).show(tuple(candidates))

    def dismissed(self, document: Document, position: types.Position) -> None:
        """Record that the user dismissed the suggestion at a position."""
        self._watch(document).dismiss(document.text, document.offset_at(position))

    def closed(self, uri: str) -> None:
        watched = self._of.pop(uri, None)
        if watched is not None:
            watched.kept.close()

    async def close(self) -> None:
        for uri in list(self._of):
            self.closed(uri)

    def _watch(self, document: Document) -> Watched:
        if document.uri not in self._of:
            count = partial(self.count, document.language.id)

            def ended(is_kept: bool) -> None:
                count(LanguageCounts(kept=int(is_kept), ended=1))

            self._of[document.uri] = Watched(count=count, kept=KeptTexts(ended))
        return self._of[document.uri]


def _begin(snapshot: Snapshot) -> tuple[int, str]:
    """Return where in the document a suggestion begins, and what of it is typed already."""
    document, selected = snapshot.document, snapshot.selected
    if selected is None:
        return snapshot.place, ""
    start, end = (document.offset_at(it) for it in (selected.range.start, selected.range.end))
    return start, document.text[start:end]


def change_between(
    before: Document, after: Document, changes: Sequence[types.TextDocumentContentChangeEvent]
) -> TextChange:
    """Return what ``changes`` have made of the text.

    One change costs its own length. Of several, or of a whole text, the changed range is found.
    Some clients send the keys of a moment together: these are one change, as they leave no
    unchanged text between them. Others send changes of several lines as one, with all lines from
    the first to the last: each changed line is a place.
    """
    if len(changes) == 1 and isinstance(changes[0], types.TextDocumentContentChangePartial):
        place, inserted = changes[0].range, changes[0].text
        start = before.offset_at(place.start)
        end = max(start, before.offset_at(place.end))
        removed = before.text[start:end]
        change = trimmed_change(start, removed, inserted)
        return replace(change, texts=_changed_lines(removed, inserted))
    start, old_end, new_end = replaced_range(before.text, after.text)
    texts = () if _touch_each_other(changes) else tuple(change.text for change in changes)
    return TextChange(
        start=start,
        removed=before.text[start:old_end],
        inserted=after.text[start:new_end],
        texts=texts,
    )


def _changed_lines(removed: str, inserted: str) -> tuple[str, ...]:
    """Return what each of several changed lines gets; nothing if the lines are not as many."""
    old, new = removed.split("\n"), inserted.split("\n")
    if len(old) != len(new):
        return ()
    changed = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
    if len(changed) < 2:
        return ()
    return tuple(trimmed_change(0, one, other).inserted for one, other in changed)


def _touch_each_other(changes: Sequence[types.TextDocumentContentChangeEvent]) -> bool:
    """Whether each change is where the ones before it were: keys, one after the other."""
    start, end = (0, 0), (0, 0)
    for number, change in enumerate(changes):
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return len(changes) == 1
        first, last = _place(change.range.start), _place(change.range.end)
        if number and not (first <= end and last >= start):
            return False
        start = min(start, first) if number else first
        end = max(_end_of(first, change.text), end if number and last < end else first)
    return True


def _place(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _end_of(start: tuple[int, int], text: str) -> tuple[int, int]:
    """Return where an inserted text ends, or a little after that, in any encoding of positions."""
    *lines, last = text.split("\n")
    units = len(last.encode("utf-8", "surrogatepass"))
    return start[0] + len(lines), units + (0 if lines else start[1])
