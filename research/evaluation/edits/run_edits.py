"""Asks for next edits after each case's first edit, and goes on where the first offer was right.

Knows neither where cases come from nor how next edits are found.
"""

from collections.abc import Callable, Sequence

from intarsia.research.edits.edit_case import EditCase, lines_of
from intarsia.research.evaluation.edits.edit_record import EditRow, JudgedPlace, Step
from intarsia.research.evaluation.edits.finder import (
    Direction,
    Finder,
    Found,
    FoundPlace,
    Level,
    Question,
)
from intarsia.research.evaluation.edits.still_open import (
    OpenHunk,
    exact_hunks,
    open_hunks,
    present_text,
    touched,
)

CHAIN_LEVEL: Level = "bold"
"""The level at which offers are taken in a chain: it has all that the others have."""

MAX_FURTHER_STEPS = 4
_LINES_SHOWN = 2


async def run_edits(
    cases: Sequence[EditCase],
    finder: Finder,
    *,
    direction: Direction = "below",
    on_case: Callable[[str, int], None],
    on_row: Callable[[EditRow], None],
) -> None:
    """Make a row of every case, and give each to ``on_row`` at once.

    ``on_case`` gets the case's id and the number of those done before it. Raises EvaluationFault.
    """
    for number, case in enumerate(cases):
        on_case(case.id, number)
        on_row(await _row(case, finder, direction))


async def _row(case: EditCase, finder: Finder, direction: Direction) -> EditRow:
    user_hunk = 0 if direction == "below" else len(case.hunks) - 1
    await finder.prepare(case.before, _question(case, user_hunk, {user_hunk}, direction))
    put_in = {user_hunk}
    steps = [await _step(case, finder, user_hunk, put_in, direction)]
    while len(steps) <= MAX_FURTHER_STEPS and not case.is_control:
        offer = steps[-1].offer(CHAIN_LEVEL)
        if offer is None or not offer.is_exact:
            break
        put_in |= {*offer.exact_hunks}
        if len(put_in) == len(case.hunks):
            break
        steps.append(await _step(case, finder, user_hunk, put_in, direction))
    return EditRow(
        case=case.id,
        repo=case.repo,
        path=case.path,
        date=case.date,
        kind=case.kind,
        language=case.language,
        user_hunk=user_hunk,
        hunks=case.hunks,
        steps=tuple(steps),
    )


def _question(case: EditCase, user_hunk: int, put_in: set[int], direction: Direction) -> Question:
    return Question(
        path=case.path,
        language=case.language,
        before=case.before,
        edited=present_text(case, {user_hunk}),
        present=present_text(case, put_in),
        direction=direction,
    )


async def _step(
    case: EditCase, finder: Finder, user_hunk: int, put_in: set[int], direction: Direction
) -> Step:
    question = _question(case, user_hunk, put_in, direction)
    found = await finder.find(question)
    lines = lines_of(question.present)
    still_open = open_hunks(case, put_in)
    return Step(
        put_in=tuple(sorted(put_in)),
        in_window=tuple(hunk.number for hunk in still_open if _is_in_window(hunk, found)),
        places=tuple(_judged(place, lines, still_open) for place in found.places),
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
        hunks=tuple(hunk.number for hunk in touched(place.change, still_open)),
        exact_hunks=exact_hunks(place.change, lines, still_open),
    )
