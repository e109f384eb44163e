"""What became of one place, and the text that it leaves."""

from dataclasses import dataclass, replace

from intarsia.infill.filling.fill_one import FillResult
from intarsia.infill.filling.places import Place
from intarsia.infill.filling.replacement import Replacement, with_replaced
from intarsia.infill.holes.marked_hole import OpenHole
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledPlace:
    """``text`` is as it was when the place's turn came: by then all had moved by ``shift``.

    ``opened`` None: there was no hole to ask the engine about.
    """

    place: Place
    text: str
    shift: int
    opened: OpenHole | None
    outcome: FillResult | NoSuggestion

    @property
    def refusal(self) -> NoSuggestion | None:
        """Why there is no fill, None where there is one."""
        found = self.outcome.found if isinstance(self.outcome, FillResult) else self.outcome
        return found if isinstance(found, NoSuggestion) else None

    @property
    def change(self) -> Replacement | None:
        """What it does to ``text``, None where it does nothing."""
        if self.opened is None or not isinstance(self.outcome, FillResult):
            return None
        found = self.outcome.found
        if not isinstance(found, Suggestion):
            return None
        opened = self.opened
        new = opened.before + found.text + opened.after
        return Replacement(start=opened.start, end=opened.end, new=new)

    @property
    def replacement(self) -> Replacement | None:
        """The same, of the text before any of the fills."""
        change = self.change
        return change and Replacement(
            start=change.start - self.shift, end=change.end - self.shift, new=change.new
        )

    @property
    def result(self) -> str:
        """The text with this fill in it."""
        return self.text if self.change is None else with_replaced(self.text, [self.change])

    def moved_to(self, text: str, shift: int) -> "FilledPlace":
        """Return the same filling of a text in which all before it has moved by ``shift``."""
        by = shift - self.shift
        opened = self.opened and replace(
            self.opened, start=self.opened.start + by, end=self.opened.end + by
        )
        return replace(self, text=text, shift=shift, opened=opened)

    @property
    def where(self) -> tuple[int, int]:
        """The stretch that is or would be replaced, in the text before any of the fills."""
        if self.opened is None:
            return self.place.start, self.place.end
        return self.opened.start - self.shift, self.opened.end - self.shift
