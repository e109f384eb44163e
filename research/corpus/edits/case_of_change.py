"""Makes a case of a change: the text around its hunks, checked with the file after the commit."""

from pathlib import PurePosixPath

import msgspec

from intarsia.infill.languages import language_for_path
from intarsia.workspace.files.generated import is_generated_text
from intarsia_research.corpus.edits.clone import Clone
from intarsia_research.corpus.edits.log_changes import FileChange
from intarsia_research.corpus.filters import reason_in_text
from intarsia_research.corpus.licence import permitted
from intarsia_research.edits.edit_case import CONTROL, EditCase, EditKind, lines_of, with_hunks

MAX_LINES = 300
"""The most lines of a file that a case has, around its hunks."""

MAX_FILE_CHARS = 400_000
MAX_LINE_CHARS = 400
MIN_CONTROL_LINES = 40
_SUBJECT_CHARS = 120


def case_of_change(
    change: FileChange, kind: EditKind, clone: Clone, *, repo: str, licence: str
) -> EditCase | None:
    """Return the case; None if its file must not be used, or does not have the hunks' lines."""
    old = clone.text(f"{change.commit}~1", change.path)
    new = clone.text(change.commit, change.path)
    if old is None or new is None or not _may_be_used(old) or with_hunks(old, change.hunks) != new:
        return None
    lines = lines_of(old)
    if kind == CONTROL and len(lines) < MIN_CONTROL_LINES:
        return None
    first, end = _window(change, len(lines))
    if max(map(len, lines[first:end])) > MAX_LINE_CHARS:
        return None
    try:
        return EditCase(
            id=f"{repo}@{change.commit[:9]}:{change.path}",
            repo=repo,
            commit=change.commit,
            path=change.path,
            date=change.date,
            subject=change.subject[:_SUBJECT_CHARS],
            language=language_for_path(PurePosixPath(change.path).name).id,
            licence=licence,
            kind=kind,
            first_line=first,
            file_lines=len(lines),
            files_in_commit=change.num_files,
            before="".join(lines[first:end]),
            hunks=tuple(
                msgspec.structs.replace(hunk, start=hunk.start - first, end=hunk.end - first)
                for hunk in change.hunks
            ),
        )
    except ValueError:  # the hunks' old lines are not those of the file
        return None


def _may_be_used(text: str) -> bool:
    """Whether a text has plain lines that a person wrote under a permitted licence."""
    return (
        0 < len(text) <= MAX_FILE_CHARS
        and text.endswith("\n")
        and "\r" not in text
        and text.count("\n") == len(text.splitlines())  # no form feeds and the like
        and not is_generated_text(text)
        and reason_in_text(text, permitted=permitted) is None
    )


def _window(change: FileChange, num_lines: int) -> tuple[int, int]:
    """Return the lines to keep: the hunks, and about as many above them as below."""
    start, end = change.hunks[0].start, change.hunks[-1].end
    first = max(0, start - (MAX_LINES - (end - start)) // 2)
    last = min(num_lines, first + MAX_LINES)
    return max(0, last - MAX_LINES), last
