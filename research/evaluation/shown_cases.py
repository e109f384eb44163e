"""Select the worst and the best answers of every system of a run, for a page.

Each is shown with the answers of all systems to the same case.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia_research.evaluation.figures import CaseKey, key_of
from intarsia_research.evaluation.record import Row

NUM_WORST = 30
NUM_BEST = 15


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownCase:
    """One case and the answers of all systems, in the order of the run."""

    row: Row  # of the system that it is selected for
    answers: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Gallery:
    """The selected cases of one system."""

    system: str
    worst: tuple[ShownCase, ...]
    best: tuple[ShownCase, ...]


def galleries(
    rows: Sequence[Row], *, num_worst: int = NUM_WORST, num_best: int = NUM_BEST
) -> list[Gallery]:
    """Return one gallery per system, in the order of the rows."""
    names = list(dict.fromkeys(row.system for row in rows))  # in the order of first use
    answers: dict[CaseKey, list[Row]] = {}
    for row in sorted(rows, key=lambda row: names.index(row.system)):
        answers.setdefault(key_of(row), []).append(row)

    def shown(row: Row) -> ShownCase:
        return ShownCase(row=row, answers=tuple(answers[key_of(row)]))

    found = []
    for system in names:
        own = [row for row in rows if row.system == system]
        worst = sorted((row for row in own if not _is_right(row)), key=_badness)[:num_worst]
        best = sorted((row for row in own if _is_right(row)), key=_effort)[:num_best]
        found.append(
            Gallery(
                system=system,
                worst=tuple(map(shown, worst)),
                best=tuple(map(shown, best)),
            )
        )
    return found


def _is_right(row: Row) -> bool:
    return not row.is_failure and (row.judgement.is_exact or row.judgement.passed is True)


def _badness(row: Row) -> tuple[int, float, int]:
    """Sort wrong text first, least similar before the others; then empty text; then failures."""
    rank = 2 if row.is_failure else 1 if row.judgement.is_empty else 0
    return rank, row.judgement.similarity, -len(row.truth)


def _effort(row: Row) -> int:
    """Sort the longest first: a correct bracket shows little."""
    return -len(row.truth)
