"""Tells what a hunk changed, token by token: names that went or came, and substitutions."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from intarsia_research.edits.edit_case import CommitHunk

MAX_TOKENS = 400
NAME = re.compile(r"[A-Za-z_]\w*")

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class TokenChanges:
    """What a hunk changed. All are empty if it is too large to compare."""

    removed: frozenset[str] = frozenset()  # names in replaced or removed tokens
    added: frozenset[str] = frozenset()  # names in new tokens
    substitutions: tuple[tuple[str, str], ...] = ()  # old and new text, blanks around them cut off

    @property
    def renames(self) -> frozenset[tuple[str, str]]:
        """Return the substitutions of one name by another."""
        return frozenset(
            (old, new)
            for old, new in self.substitutions
            if NAME.fullmatch(old) and NAME.fullmatch(new)
        )


def changed_tokens(hunk: CommitHunk) -> TokenChanges:
    """Return what a hunk changed. White space alone is no change."""
    old, new = _TOKEN.findall(hunk.old_text), _TOKEN.findall(hunk.new_text)
    if max(len(old), len(new)) > MAX_TOKENS:
        return TokenChanges()
    pairs = [
        ("".join(old[i1:i2]).strip(), "".join(new[j1:j2]).strip())
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    changed = [(before, after) for before, after in pairs if before != after]
    return TokenChanges(
        removed=frozenset(name for before, _ in changed for name in NAME.findall(before)),
        added=frozenset(name for _, after in changed for name in NAME.findall(after)),
        substitutions=tuple(changed),
    )
