"""A client's change of a document as one change of its text, by offsets."""

from collections.abc import Sequence
from dataclasses import replace

from lsprotocol import types

from intarsia.infill.syntax.difference import replaced_range
from intarsia.infill.typing.change import TextChange, trimmed_change
from intarsia.infill.typing.restored import is_of_a_key
from intarsia.lsp.documents.documents import Document


def change_between(
    before: Document,
    after: Document,
    changes: Sequence[types.TextDocumentContentChangeEvent],
) -> TextChange:
    """Return what ``changes`` have made of the text.

    One change costs its own length. Of several, or of a whole text, the changed range is found.
    Some clients send the keys of a moment together: these are one change, as they leave no
    unchanged text between them. Others send changes of several lines as one, with all lines from
    the first to the last: each changed line is a place.
    """
    if len(changes) == 1 and isinstance(changes[0], types.TextDocumentContentChangePartial):
        place, inserted = changes[0].range, changes[0].text
        start = before.offset_at(place.start)
        end = max(start, before.offset_at(place.end))
        removed = before.text[start:end]
        num_places = _num_changed_lines(removed, inserted)
        change = trimmed_change(start, removed, inserted)
        return replace(change, num_places=num_places, is_alike=num_places == 1)
    start, old_end, new_end = replaced_range(before.text, after.text)
    texts = [change.text for change in changes]
    return TextChange(
        start=start,
        removed=before.text[start:old_end],
        inserted=after.text[start:new_end],
        num_places=1 if _touch_each_other(changes) else len(changes),
        is_alike=len(set(texts)) == 1 and is_of_a_key(texts[0]),
    )


def _num_changed_lines(removed: str, inserted: str) -> int:
    """Return in how many lines the texts differ; 1 if the lines are not as many."""
    old, new = removed.split("\n"), inserted.split("\n")
    if len(old) != len(new):
        return 1
    return max(1, sum(one != other for one, other in zip(old, new, strict=True)))


def _touch_each_other(changes: Sequence[types.TextDocumentContentChangeEvent]) -> bool:
    """Whether each change is where the ones before it were: keys, one after the other."""
    start, end = (0, 0), (0, 0)
    for number, change in enumerate(changes):
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return len(changes) == 1
        first, last = _place(change.range.start), _place(change.range.end)
        if number and not (first <= end and last >= start):
            return False
        start = min(start, first) if number else first
        end = max(_end_of(first, change.text), end if number and last < end else first)
    return True


def _place(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _end_of(start: tuple[int, int], text: str) -> tuple[int, int]:
    """Return where an inserted text ends, or a little after that, in any encoding of positions."""
    *lines, last = text.split("\n")
    units = len(last.encode("utf-8", "surrogatepass"))
    return start[0] + len(lines), units + (0 if lines else start[1])
