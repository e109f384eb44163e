"""How far a chain of offers gets: each right one is put in, and the next is asked for."""

from collections.abc import Iterator

from intarsia_research.evaluation.edits.edit_record import EditRow, JudgedPlace
from intarsia_research.evaluation.edits.finder import Level


def offers_in_turn(row: EditRow, level: Level) -> Iterator[JudgedPlace]:
    """Yield the first offer of each step, up to one that is wrong.

    The steps of a row follow the offers of the boldest level. A surer level goes on while it offers
    the same; else it ends there, so its chain may be longer than what is counted.
    """
    for number, step in enumerate(row.steps):
        offer = step.offer(level)
        if offer is None:
            return
        yield offer
        put_in = {*step.put_in, *offer.exact_hunks}
        is_followed = len(row.steps) > number + 1 and {*row.steps[number + 1].put_in} == put_in
        if not offer.is_exact or not is_followed:
            return


def num_reached(row: EditRow, level: Level) -> int:
    """Return how many of the hunks in the first window were offered rightly, one after another."""
    reached = {number for offer in offers_in_turn(row, level) for number in offer.exact_hunks}
    return len(reached & {*row.first.in_window})
