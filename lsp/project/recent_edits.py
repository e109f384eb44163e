"""The lines that the user edited last, in every open document.

Edits near each other are one region. A region moves with the lines above it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from intarsia.infill.syntax.lines import replaced_range
from intarsia.lsp.documents.documents import DocumentChange

MAX_REGIONS = 16
NEAR_LINES = 8
"""An edit this near to a region extends it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EditedLines:
    """One change of a document. Lines are 0-based; ``num_old`` lines became ``num_new``."""

    uri: str
    start_line: int
    num_old: int
    num_new: int


def edited_lines(changed: DocumentChange) -> Iterator[EditedLines]:
    """Yield the edits of a change."""
    before, after, uri = changed.before.text, changed.after.text, changed.after.uri
    for change in changed.changes:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            start, end, new_end = replaced_range(before, after)
            yield EditedLines(
                uri=uri,
                start_line=before.count("\n", 0, start),
                num_old=before.count("\n", start, end) + 1,
                num_new=after.count("\n", start, new_end) + 1,
            )
            return
        place = change.range
        yield EditedLines(
            uri=uri,
            start_line=place.start.line,
            num_old=max(0, place.end.line - place.start.line) + 1,
            num_new=change.text.count("\n") + 1,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """Edited lines as they are now; ``end_line`` is exclusive."""

    uri: str
    start_line: int
    end_line: int


class RecentEdits:
    """The newest regions; the oldest are dropped first."""

    def __init__(self) -> None:
        self._regions: list[Region] = []  # oldest first

    def newest_first(self) -> Sequence[Region]:
        """Return the regions, the one edited last first."""
        return self._regions[::-1]

    def note(self, edit: EditedLines) -> None:
        """Take one change of a document."""
        end_line = edit.start_line + edit.num_new
        region = Region(uri=edit.uri, start_line=edit.start_line, end_line=end_line)
        kept = []
        for other in self._regions:
            moved = _after(other, edit)
            if _is_near(moved, region):
                region = Region(
                    uri=region.uri,
                    start_line=min(moved.start_line, region.start_line),
                    end_line=max(moved.end_line, region.end_line),
                )
            else:
                kept.append(moved)
        self._regions = [*kept[-MAX_REGIONS + 1 :], region]

    def forget(self, uri: str) -> None:
        """Drop the regions of a document, because it is closed or replaced as a whole."""
        self._regions = [region for region in self._regions if region.uri != uri]


def _after(region: Region, edit: EditedLines) -> Region:
    """Return where the region's lines are after an edit of the same document."""
    if region.uri != edit.uri:
        return region
    end_of_edit = edit.start_line + edit.num_old
    shift = edit.num_new - edit.num_old

    def moved(line: int) -> int:
        return line + shift if line >= end_of_edit else min(line, edit.start_line + edit.num_new)

    start_line = moved(region.start_line)
    end_line = max(start_line, moved(region.end_line))
    return Region(uri=region.uri, start_line=start_line, end_line=end_line)


def _is_near(first: Region, second: Region) -> bool:
    if first.uri != second.uri:
        return False
    gap = max(first.start_line, second.start_line) - min(first.end_line, second.end_line)
    return gap <= NEAR_LINES
