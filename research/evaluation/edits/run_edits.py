"""Asks for next edits after each case's first edit, and goes on where the first offer was right.

Knows neither where cases come from nor how next edits are found.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia_research.evaluation.edits.edit_case import EditCase, lines_of
from intarsia_research.evaluation.edits.edit_record import EditRow, JudgedPlace, Step
from intarsia_research.evaluation.edits.finder import (
    Direction,
    Finder,
    Found,
    FoundPlace,
    Level,
    Question,
)
from intarsia_research.evaluation.edits.still_open import (
    OpenHunk,
    exact_hunks,
    hunks_of_line,
    open_hunks,
    present_lines,
    present_text,
    touched,
)

CHAIN_LEVEL: Level = "bold"
"""The level at which offers are taken in a chain: it has all that the others have."""

MAX_FURTHER_STEPS = 4
_LINES_SHOWN = 2


UserEdit: TypeAlias = Literal["first", "last"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AskingWay:
    """Which edit of a case is the user's, and where others are looked for, in turn."""

    user_edit: UserEdit = "first"
    directions: Sequence[Direction] = ("below", "above")


async def run_edits(
    cases: Sequence[EditCase],
    finder: Finder,
    *,
    way: AskingWay,
    on_case: Callable[[str, int], None],
    on_row: Callable[[EditRow], None],
) -> None:
    """Make a row of every case, and give each to ``on_row`` at once.

    ``on_case`` gets the case's id and the number of those done before it. Raises EvaluationFault.
    """
    for number, case in enumerate(cases):
        on_case(case.id, number)
        on_row(await _row(case, finder, way))


async def _row(case: EditCase, finder: Finder, way: AskingWay) -> EditRow:
    asked = _Asked(case, way)
    await finder.prepare(asked.question())
    steps = [await _step(asked, finder)]
    while len(steps) <= MAX_FURTHER_STEPS and not case.is_control:
        offer = steps[-1].offer(CHAIN_LEVEL)
        if offer is None or not offer.is_exact:
            break
        asked.put_in(offer.exact_hunks)
        if asked.is_done:
            break
        steps.append(await _step(asked, finder))
    return EditRow(
        case=case.id,
        repo=case.repo,
        path=case.path,
        date=case.date,
        kind=case.kind,
        language=case.language,
        user_hunk=asked.user_hunk,
        hunks=case.hunks,
        steps=tuple(steps),
    )


class _Asked:
    """A case with the hunks that its text has by now."""

    def __init__(self, case: EditCase, way: AskingWay) -> None:
        self.case = case
        self.directions = way.directions
        self.user_hunk = 0 if way.user_edit == "first" else len(case.hunks) - 1
        self.numbers = [self.user_hunk]  # of the hunks that were put in, the newest last

    @property
    def is_done(self) -> bool:
        return len(self.numbers) == len(self.case.hunks)

    def put_in(self, numbers: Sequence[int]) -> None:
        self.numbers += numbers

    def question(self) -> Question:
        start, end = present_lines(self.case, self.numbers, self.numbers[-1])
        return Question(
            path=self.case.path,
            language=self.case.language,
            before=self.case.before,
            edited=present_text(self.case, {self.user_hunk}),
            present=present_text(self.case, self.numbers),
            newest_start=start,
            newest_end=end,
            directions=self.directions,
        )


async def _step(asked: _Asked, finder: Finder) -> Step:
    question = asked.question()
    found = await finder.find(question)
    lines = lines_of(question.present)
    still_open = open_hunks(asked.case, asked.numbers)
    return Step(
        put_in=tuple(sorted(asked.numbers)),
        in_window=tuple(hunk.number for hunk in still_open if _is_in_window(hunk, found)),
        places=tuple(_judged(place, lines, still_open) for place in found.places),
        line=found.line,
        drop=found.drop,
        line_hunks=hunks_of_line(found.line, still_open),
        reason=found.reason,
        is_failure=found.is_failure,
        ms=found.ms,
        cpu_s=found.cpu_s,
        num_read=found.num_read,
        num_reused=found.num_reused,
    )


def _is_in_window(hunk: OpenHunk, found: Found) -> bool:
    return found.first_line <= hunk.start and hunk.end <= found.end_line


def _judged(place: FoundPlace, lines: Sequence[str], still_open: Sequence[OpenHunk]) -> JudgedPlace:
    first, end = place.change.first_line, place.change.end_line
    put_in = exact_hunks(place.change, lines, still_open)
    at_place = {hunk.number for hunk in touched(place.change, still_open)}
    return JudgedPlace(
        first_line=first,
        old_text="".join(lines[first:end]),
        new_text=place.change.text,
        above="".join(lines[max(0, first - _LINES_SHOWN) : first]),
        below="".join(lines[end : end + _LINES_SHOWN]),
        drop=place.drop,
        gain=place.gain,
        gain_before=place.gain_before,
        log_p=place.log_p,
        is_agreed=place.is_agreed,
        level=place.level,
        hunks=tuple(sorted(at_place.union(put_in))),
        exact_hunks=put_in,
    )
