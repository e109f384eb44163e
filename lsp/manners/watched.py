"""What is known of one document: the suggestion on show, the last change, what was dismissed."""

from dataclasses import dataclass, field
from typing import Protocol

from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.typing.change import TextChange, TextRange
from intarsia.infill.typing.follow import Followed
from intarsia.lsp.manners.dismissals import Dismissals
from intarsia.lsp.manners.kept_texts import KeptTexts
from intarsia.lsp.manners.last_change import LastChange


class OnSuggestion(Protocol):
    """What becomes of the suggestions in one document."""

    def shown(self) -> None: ...

    def accepted(self) -> None: ...

    def ended(self, is_kept: bool, /) -> None:
        """Half a minute after it was accepted."""


@dataclass(kw_only=True, slots=True, eq=False)
class Watched:
    """One document."""

    on: OnSuggestion
    kept: KeptTexts
    last_change: LastChange = field(default_factory=LastChange)
    dismissals: Dismissals = field(default_factory=Dismissals)
    shown: tuple[Followed, ...] = ()  # what the client may show now: several candidates
    is_accepted: bool = False  # a part of what is shown was accepted

    def show(self, candidates: tuple[Followed, ...]) -> None:
        """Take the answer to a request; a rest of what is shown already is the same suggestion."""
        known = [it for it in self.shown if it.cursor == candidates[0].cursor]
        if any(it.rest == candidates[0].rest for it in known):
            more = [it for it in candidates if all(it.rest != other.rest for other in known)]
            self.shown = (*known, *more)
            return
        self.shown, self.is_accepted = candidates, False
        self.on.shown()

    def change(self, change: TextChange, old: str, new: str) -> None:
        """Take a change of the document."""
        self.dismissals.move(change, new)
        if self.kept.move(change, new):
            self.dismissals.note(new, change.start)
        is_suggestion = self._follow(change, old, new)
        self.last_change.note(change, old, new, is_suggestion=is_suggestion)

    def dismiss(self, text: str, offset: int) -> None:
        """Take that the user dismissed the suggestion at an offset."""
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
            self.on.accepted()
        self.kept.add(TextRange(start=accepted.start, end=accepted.cursor), new)
