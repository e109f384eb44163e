"""How many keys a change takes by hand, and how many of these offers save."""

from rapidfuzz.distance import Indel

from intarsia_research.evaluation.edits.chain import offers_in_turn
from intarsia_research.evaluation.edits.edit_record import EditRow
from intarsia_research.evaluation.edits.finder import Level

KEYS_TO_ACCEPT = 2
"""One key jumps to the place and shows the change, the same key accepts it."""

KEYS_TO_DISMISS = 1


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


def _unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines())
