"""Names the kind of an edit by simple rules, the first that holds."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from intarsia_research.corpus.edits.changed_tokens import TokenChanges
from intarsia_research.edits.edit_case import CommitHunk, EditKind
from intarsia_research.edits.imports import are_imports

MIN_TYPE_SHARE = 0.6

_HEAD = re.compile(
    r"\s*(?:(?:async\s+)?(?:def|func|fn|fun|function)\b|pub\b.*\bfn\b|export\b.*\bfunction\b"
    r"|(?:(?:public|private|protected|static|final|abstract|synchronized|override)\s+)*"
    r"[\w<>\[\], .?]+\s+\w+\s*\([^;]*$)"
)
_TYPE = re.compile(r"^[<:&*?|\[\]]|->|<|>|\bas\b|\[\]$|^[A-Z]\w*(?:<.*>)?$")


def edit_kind(hunks: Sequence[CommitHunk], changes: Sequence[TokenChanges]) -> EditKind:
    """Return the kind of an edit of two hunks or more. ``changes`` has one entry a hunk."""
    rules: tuple[tuple[EditKind, Callable[[], bool]], ...] = (
        ("rename", lambda: any(changes[0].renames & other.renames for other in changes[1:])),
        ("import", lambda: any(are_imports(hunk.old_text + hunk.new_text) for hunk in hunks)),
        ("added", lambda: not any(hunk.old_text for hunk in hunks)),
        ("removed", lambda: not any(hunk.new_text for hunk in hunks)),
        ("signature", lambda: any(map(_changes_a_head, hunks))),
        ("type", lambda: _are_types(changes)),
        ("same", lambda: _has_repeated_substitution(changes)),
        ("added", lambda: 2 * sum(not hunk.old_text for hunk in hunks) >= len(hunks)),
    )
    return next((kind for kind, holds in rules if holds()), "other")


def _changes_a_head(hunk: CommitHunk) -> bool:
    old = [line for line in hunk.old_text.splitlines() if _HEAD.match(line) and "(" in line]
    return bool(old) and any(map(_HEAD.match, hunk.new_text.splitlines()))


def _are_types(changes: Sequence[TokenChanges]) -> bool:
    texts = [new or old for change in changes for old, new in change.substitutions]
    return bool(texts) and sum(_TYPE.search(text) is not None for text in texts) >= (
        MIN_TYPE_SHARE * len(texts)
    )


def _has_repeated_substitution(changes: Sequence[TokenChanges]) -> bool:
    num_hunks = Counter(pair for change in changes for pair in set(change.substitutions))
    return any(num > 1 for num in num_hunks.values())
