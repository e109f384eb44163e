"""Decides which changes of commits make a case: small hunks of code, no formatting, no tools."""

import re
from collections.abc import Sequence
from itertools import pairwise

from intarsia.workspace.files.generated import is_generated_name
from intarsia_research.corpus.edits.changed_tokens import TokenChanges
from intarsia_research.corpus.edits.follow import following
from intarsia_research.corpus.edits.log_changes import FileChange
from intarsia_research.corpus.filters import reason_in_path
from intarsia_research.edits.edit_case import CommitHunk
from intarsia_research.edits.imports import is_import

MAX_FILES = 12  # of a commit: more is a rewrite
MAX_HUNKS = 8
MAX_HUNK_LINES = 6  # on either side
MAX_LINE_CHARS = 200
MAX_LINES_BETWEEN = 120  # two neighbouring hunks
MAX_LINES_IN_ALL = 260  # from the first hunk to the last
MIN_FOLLOWING_SHARE = 0.5

_FORMATTING = re.compile(
    r"\b(?:format(?:ter|ting)?|ruff|prettier|lint\w*|rustfmt|gofmt|black|typos?|whitespace|xo)\b",
    re.IGNORECASE,
)
_VERSION_FILE = re.compile(r"(?:^|/)(?:__about__|_version|version|setup)\.\w+$", re.IGNORECASE)
_VERSION = re.compile(r"\s*(?:version|__version__)")
_COMMENT = re.compile(r"\s*(?:#(?!\[|\s*include)|//|/\*|\*|\"\"\"|''')")


def is_eligible(change: FileChange) -> bool:
    """Whether a person wrote this change, and each hunk is small and changes code."""
    return (
        change.num_files <= MAX_FILES
        and 1 <= len(change.hunks) <= MAX_HUNKS
        and _FORMATTING.search(change.subject) is None
        and reason_in_path(change.path) is None
        and not is_generated_name(change.path.rpartition("/")[2])
        and _VERSION_FILE.search(change.path) is None
        and all(map(_is_small_change_of_code, change.hunks))
    )


def may_be_control(change: FileChange) -> bool:
    """Whether an eligible change is a single edit; an import or a version is none."""
    if len(change.hunks) != 1:
        return False
    hunk = change.hunks[0]
    lines = (hunk.old_text + hunk.new_text).splitlines()
    return not any(map(is_import, lines)) and _VERSION.match(hunk.new_text) is None


def hunks_that_follow(
    change: FileChange, changes: Sequence[TokenChanges]
) -> tuple[CommitHunk, ...] | None:
    """Return the hunks with ``follows`` set; None if too few follow, or they are far apart.

    ``changes`` has one entry a hunk. At least one later hunk must follow, and at least half must.
    """
    hunks = change.hunks
    if len(hunks) < 2 or hunks[-1].end - hunks[0].start > MAX_LINES_IN_ALL:
        return None
    if any(below.start - above.end > MAX_LINES_BETWEEN for above, below in pairwise(hunks)):
        return None
    linked = following(changes)
    num_later = len(hunks) - 1
    if len(linked) == 1 or len(linked) - 1 < MIN_FOLLOWING_SHARE * num_later:
        return None
    return tuple(
        CommitHunk(
            start=hunk.start,
            end=hunk.end,
            old_text=hunk.old_text,
            new_text=hunk.new_text,
            follows=number in linked,
        )
        for number, hunk in enumerate(hunks)
    )


def _is_small_change_of_code(hunk: CommitHunk) -> bool:
    text = hunk.old_text + hunk.new_text
    lines = text.splitlines()
    return (
        max(hunk.end - hunk.start, hunk.new_text.count("\n")) <= MAX_HUNK_LINES
        and max(map(len, lines), default=0) <= MAX_LINE_CHARS
        and hunk.old_text.split() != hunk.new_text.split()
        and not all(_COMMENT.match(line) for line in lines if line.strip())
    )
