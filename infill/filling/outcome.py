"""What became of one place of a text: the engine's answer, the change, and the text it leaves."""

from dataclasses import dataclass, replace

from intarsia.infill.filling.fill_one import FillResult
from intarsia.infill.filling.places import Place
from intarsia.infill.holes.marked_hole import OpenHole
from intarsia.infill.replacement import Replacement, with_replaced
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledPlace:
    """``place`` is in terms of the original text; ``text`` already holds the fills made before.

    In ``text`` the place has moved by ``shift`` characters. ``opened`` is None where the place gave
    no hole, so that the engine was not asked.
    """

    place: Place
    text: str
    shift: int
    opened: OpenHole | None
    outcome: FillResult | NoSuggestion

    @property
    def refusal(self) -> NoSuggestion | None:
        """Why there is no fill; None where there is one."""
        outcome = self.outcome
        suggestion = outcome.suggestion if isinstance(outcome, FillResult) else outcome
        return suggestion if isinstance(suggestion, NoSuggestion) else None

    @property
    def change(self) -> Replacement | None:
        """What the fill changes in ``text``; None where there is no fill."""
        if self.opened is None or not isinstance(self.outcome, FillResult):
            return None
        suggestion = self.outcome.suggestion
        if not isinstance(suggestion, Suggestion):
            return None
        opened = self.opened
        new = opened.before + suggestion.text + opened.after
        return Replacement(start=opened.start, end=opened.end, new=new)

    @property
    def replacement(self) -> Replacement | None:
        """The same change in terms of the original text."""
        change = self.change
        return change and Replacement(
            start=change.start - self.shift, end=change.end - self.shift, new=change.new
        )

    @property
    def result(self) -> str:
        """``text`` with this fill in it."""
        return self.text if self.change is None else with_replaced(self.text, [self.change])

    @property
    def where(self) -> tuple[int, int]:
        """The range of the original text that is replaced, or would be."""
        if self.opened is None:
            return self.place.start, self.place.end
        return self.opened.start - self.shift, self.opened.end - self.shift

    def moved_to(self, text: str, shift: int) -> "FilledPlace":
        """Return the same fill in another ``text``, in which the place has moved by ``shift``."""
        distance = shift - self.shift
        opened = self.opened and replace(
            self.opened, start=self.opened.start + distance, end=self.opened.end + distance
        )
        return replace(self, text=text, shift=shift, opened=opened)
