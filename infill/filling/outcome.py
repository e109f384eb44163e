"""A place to fill, and what became of it: the engine's answer, the change, the text it leaves."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from intarsia.engine.ipc.messages import Filled
from intarsia.infill.filling.plan import (
    AskEngine,
    Attempts,
    EngineCost,
    FillContext,
    FillOptions,
    FillPlan,
    OnStep,
    with_project,
)
from intarsia.infill.holes.hole import (
    Hole,
    MarkedHole,
    OpenHole,
    hole_for_range,
    open_at_cursor,
    open_marked,
)
from intarsia.infill.languages import Language
from intarsia.infill.replacement import Replacement, with_replaced
from intarsia.infill.suggestion import NoSuggestion, Suggestion


@dataclass(frozen=True, kw_only=True, slots=True)
class FillResult:
    """The engine's answer for one hole, and the suggestion that it gives (or why it gives none)."""

    hole: Hole
    suggestion: Suggestion | NoSuggestion
    filled: Filled
    cost: EngineCost  # of all answers, not only the one that is taken


Check: TypeAlias = Callable[[Suggestion], Suggestion | NoSuggestion]
"""Returns a suggestion, or why it is not to be made."""


async def run_in(
    context: FillContext,
    plan: FillPlan,
    opened: OpenHole,
    *,
    num_candidates: int = 1,
    noise: float | None = None,
    check: Check | None = None,
) -> FillResult | NoSuggestion:
    """Run a plan with the code of other files that its hole needs."""
    options = await with_project(context.options, plan, context.find_project)
    on_step = context.on_step and partial(context.on_step, opened.shown, opened.hole)
    return await run_plan(
        context.ask,
        plan,
        options,
        num_candidates=num_candidates,
        noise=noise,
        on_step=on_step,
        check=check,
    )


async def run_plan(
    ask: AskEngine,
    plan: FillPlan,
    options: FillOptions,
    *,
    num_candidates: int = 1,
    noise: float | None = None,
    on_step: OnStep | None = None,
    check: Check | None = None,
) -> FillResult | NoSuggestion:
    """Fill a plan's hole; if no candidate passes the filters, ask for an alternative.

    Return the first answer that passes, and ``check`` too, else the first answer.
    """

    def read(filled: Filled) -> Suggestion | NoSuggestion:
        suggestion = plan.read(filled)
        if check is None or isinstance(suggestion, NoSuggestion):
            return suggestion
        return check(suggestion)

    attempts = Attempts(read)
    for alternative in attempts:
        request = plan.request(
            options,
            alternative=alternative,
            num_candidates=num_candidates,
            noise=noise,
            is_watched=on_step is not None,
        )
        # The draft that is shown is not taken back.
        answer = await ask(request, on_step if alternative == 0 else None)
        # Several candidates are compared already, or there is no time left.
        is_final = isinstance(answer, Filled) and (
            bool(answer.others) or answer.finish_reason == "deadline"
        )
        attempts.take(answer, is_final=is_final)
    return result_of(attempts, plan.hole)


def result_of(attempts: Attempts[Suggestion], hole: Hole) -> FillResult | NoSuggestion:
    """Return what ended attempts give for a hole."""
    if attempts.filled is None or attempts.cost is None:
        assert attempts.failure is not None, "without an answer there is a reason"
        return attempts.failure
    suggestion = attempts.passed[0] if attempts.passed else attempts.rejection
    assert suggestion is not None, "an answer passes or is rejected"
    return FillResult(hole=hole, suggestion=suggestion, filled=attempts.filled, cost=attempts.cost)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cursor:
    """Asks for the rest of a line, or for the block that the line's header opens."""

    start: int

    @property
    def end(self) -> int:
        return self.start


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Asks to replace a range that the user selected."""

    start: int
    end: int


Place: TypeAlias = Cursor | Selection | MarkedHole


def open_place(
    place: Place, text: str, language: Language, *, shift: int = 0
) -> OpenHole | NoSuggestion:
    """Return the hole of a place that has moved by ``shift`` characters in ``text``."""
    match place:
        case MarkedHole():
            moved = replace(place, start=place.start + shift, end=place.end + shift)
            return open_marked(text, moved, language)
        case Cursor(start=start):
            return open_at_cursor(text, start + shift, language)
        case Selection(start=start, end=end):
            hole = hole_for_range(text, start + shift, end + shift, language)
    return OpenHole(shown=text, hole=hole, start=hole.start, end=hole.end)


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
        """The fill's change of ``text``; None where there is no fill."""
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
