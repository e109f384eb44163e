"""What a row of edits is worth: how far its chain gets, which keys it saves, its place's shape."""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from rapidfuzz.distance import Indel

from intarsia_research.evaluation.edits.edit_case import CommitHunk
from intarsia_research.evaluation.edits.edit_record import EditRow, JudgedPlace
from intarsia_research.evaluation.edits.finder import Level

PlaceShape: TypeAlias = Literal["one line", "several lines", "insertion", "removal", "import"]

KEYS_TO_ACCEPT = 2
"""One key jumps to the place and shows the change, the same key accepts it."""

KEYS_TO_DISMISS = 1

_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import|use\s|pub use|extern crate|#\s*include\b|using\s"
    r"|(?:const|let|var)\s.*require\(|require(?:_relative)?\s|export\s.*\sfrom\s"
    r"|\"[\w./-]+\"$|\w+\s+\"[\w./-]+\"$)"
)


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


def keys_of(old_text: str, new_text: str) -> int:
    """Return the keys that a change takes once the cursor is there.

    One for each new character, and one for each run of characters that is removed. Indentation is
    not counted, as editors indent.
    """
    steps = Indel.opcodes(_unindented(old_text), _unindented(new_text))
    typed = sum(one.dest_end - one.dest_start for one in steps if one.tag == "insert")
    return typed + sum(one.tag == "delete" for one in steps)


def keys_needed(row: EditRow) -> int:
    """Return the keys that all further changes in the window take."""
    return sum(
        keys_of(row.hunks[number].old_text, row.hunks[number].new_text)
        for number in row.first.in_window
    )


def keys_saved(row: EditRow, level: Level) -> int:
    """Return the keys saved by right offers, less those to accept them, and to dismiss others."""
    return sum(
        keys_of(offer.old_text, offer.new_text) - KEYS_TO_ACCEPT
        if offer.is_exact
        else -KEYS_TO_DISMISS
        for offer in offers_in_turn(row, level)
    )


def place_shape(row: EditRow) -> PlaceShape:
    """Return the shape of the hunk at the first-ranked line; else of the nearest in the window."""
    in_window = sorted(row.first.in_window, key=lambda number: abs(number - row.user_hunk))
    return hunk_shape(row.hunks[[*row.first.line_hunks, *in_window][0]])


def hunk_shape(hunk: CommitHunk) -> PlaceShape:
    """Return the shape of a hunk, the first that fits."""
    if _are_imports(hunk.old_text + hunk.new_text):
        return "import"
    if not hunk.old_text:
        return "insertion"
    if not hunk.new_text:
        return "removal"
    is_one_line = hunk.end - hunk.start == 1 == hunk.new_text.count("\n")
    return "one line" if is_one_line else "several lines"


def _are_imports(text: str) -> bool:
    """Whether a text has lines, and all that are not empty import something."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(map(_IMPORT.match, lines))


def _unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines())
