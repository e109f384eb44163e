"""The holes of one text, filled in file order, each seeing the fills before it.

Positions are of the text as it was. Knows nothing of files or terminals.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from intarsia.cli.faults import CliError
from intarsia.cli.fill_hole import FillOptions, FillOutcome, fill_hole, with_fill
from intarsia.cli.text_positions import Position, Range, offset_of, range_of
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Step
from intarsia.infill.hole import Hole, check_disjoint, find_hole, hole_for_range
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import NoSuggestion, Suggestion

OnStep = Callable[[str, Hole, Step], None]
"""Called with the text as it is now, the hole in it, and a step of its fill."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where the user wants a fill: offsets in the text as it was; ``end`` None at a cursor."""

    start: int
    end: int | None

    def hole_in(self, text: str, shift: int, language: Language) -> Hole | NoSuggestion:
        """Return the hole in a text in which all before it has moved by ``shift``."""
        if self.end is None:
            return find_hole(text, self.start + shift, language)
        return hole_for_range(text, self.start + shift, self.end + shift, language)


@dataclass(frozen=True, kw_only=True, slots=True)
class Filling:
    """What became of one hole: ``where`` in the text as it was, ``text`` with all fills so far.

    ``outcome`` is NoSuggestion where there was no hole to ask the engine about.
    """

    where: Range
    outcome: FillOutcome | NoSuggestion
    text: str

    @property
    def refusal(self) -> NoSuggestion | None:
        """Why there is no fill, None where there is one."""
        found = self.outcome.found if isinstance(self.outcome, FillOutcome) else self.outcome
        return found if isinstance(found, NoSuggestion) else None


def place_at(text: str, position: Position) -> Place:
    """Return the place of a cursor. Raises CliError outside the text."""
    return Place(start=offset_of(text, position), end=None)


def places_of_ranges(text: str, ranges: Sequence[Range], language: Language) -> list[Place]:
    """Return the ranges' places in file order. Raises CliError where they overlap."""
    pairs = sorted((offset_of(text, one.start), offset_of(text, one.end)) for one in ranges)
    try:
        check_disjoint([hole_for_range(text, start, end, language) for start, end in pairs])
    except ValueError as error:
        raise CliError("two holes overlap: give ranges that do not touch each other") from error
    return [Place(start=start, end=end) for start, end in pairs]


async def fill_holes(
    client: EngineClient,
    text: str,
    places: Sequence[Place],
    language: Language,
    options: FillOptions,
    on_step: OnStep | None = None,
) -> AsyncIterator[Filling]:
    """Fill one place after the other. Raises EngineError where the engine gives no answer."""
    now = text
    for place in places:
        shift = len(now) - len(text)
        hole = place.hole_in(now, shift, language)
        if isinstance(hole, NoSuggestion):
            where = range_of(text, place.start, place.end or place.start)
            yield Filling(where=where, outcome=hole, text=now)
            continue
        outcome = await fill_hole(
            client, now, hole, language, options, on_step and _bind(on_step, now, hole)
        )
        replaced = outcome.found if isinstance(outcome.found, Suggestion) else hole
        where = range_of(text, replaced.start - shift, replaced.end - shift)
        if isinstance(outcome.found, Suggestion):
            now = with_fill(now, outcome.found)
        yield Filling(where=where, outcome=outcome, text=now)


def _bind(on_step: OnStep, text: str, hole: Hole) -> Callable[[Step], None]:
    return lambda step: on_step(text, hole, step)
