"""Finds out whether an edit gave one name a new one, which a language server can do everywhere.

Such an edit, and what was accepted after it, differs from the text before in one identifier alone.
With the old name back in these places, the text is the one before the edit, in which a language
server knows every use.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from intarsia.infill.languages import Language
from intarsia.infill.next_edit.offer import NextEditOffer
from intarsia.infill.next_edit.plan import EditedText, line_offsets
from intarsia.infill.next_edit.settled_edit import Hunk, LineRange
from intarsia.infill.next_edit.uses import uses_of
from intarsia.infill.syntax.text import newline_of, with_plain_newlines
from intarsia.infill.syntax.tree import nodes_at, parse

_WORD = re.compile(r"(\w+)")
_WORD_WITH_DOLLAR = re.compile(r"([\w$]+)")
_NAMES = frozenset({"constant", "name", "variable_name"})
"""Nodes that are names in Ruby, PHP and shells. In other grammars their type says identifier."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rename:
    """One name became another one; offsets are string indices.

    ``starts`` are where the new name is in the text after. ``asked_at`` is where the old name was
    in the text before, at the user's own edit.
    """

    old_name: str
    new_name: str
    starts: tuple[int, ...]
    asked_at: int

    def undone(self, after: str) -> str:
        """Return the text before: the old name is back in all places."""
        for start in reversed(self.starts):
            after = after[:start] + self.old_name + after[start + len(self.new_name) :]
        return after


@dataclass(frozen=True, kw_only=True, slots=True)
class _Replaced:
    """One word that became another one, with the offsets of both."""

    old: str
    new: str
    old_start: int
    new_start: int


def rename_between(before: str, after: str, edit: Hunk, language: Language) -> Rename | None:
    """Return the rename that makes one text of the other, None where they differ in more.

    ``edit`` is the user's own change of ``before``; ``after`` may have further ones. A new name
    that has a meaning there in the text before is no rename: the user has chosen another thing.
    """
    replaced = _replaced_words(before, after, _word_of(language))
    if not replaced:
        return None
    old, new = replaced[0].old, replaced[0].new
    if any((it.old, it.new) != (old, new) for it in replaced):
        return None
    offsets = line_offsets(before)
    first, last = offsets[edit.start], offsets[min(edit.end, len(offsets) - 1)]
    own = (it for it in replaced if first <= it.old_start < last)
    asked = next((it for it in own if _is_name(before, it.old_start, old, language)), None)
    if asked is None or not _is_name(after, asked.new_start, new, language):
        return None
    if new in _word_of(language).findall(before):
        syntax = parse(before, language)
        if syntax is None or uses_of(syntax, asked.old_start, new) is None:
            return None
    starts = tuple(it.new_start for it in replaced)
    return Rename(old_name=old, new_name=new, starts=starts, asked_at=asked.old_start)


def renamed_uses(edited: EditedText, language: Language) -> tuple[NextEditOffer, ...]:
    """Return an offer for each line with uses of a declared name that the edit has renamed.

    Those below the edit come first. They are sure without a model. Lines that have changed
    otherwise since the edit get none.
    """
    before, edit = edited.before, edited.edit
    offsets, newline = line_offsets(before), newline_of(before)
    own = newline.join("".join(edit.new_lines).split("\n"))
    own_end = offsets[edit.end] if edit.end < len(offsets) else len(before)
    after_edit = before[: offsets[edit.start]] + own + before[own_end:]
    rename = rename_between(before, after_edit, edit, language)
    syntax = None if rename is None else parse(before, language)
    uses = syntax and rename and uses_of(syntax, rename.asked_at, rename.new_name)
    if rename is None or not uses:
        return ()
    whole = before
    for use in reversed(uses):
        new = use.form.format(old=rename.old_name, new=rename.new_name)
        whole = whole[: use.start] + new + whole[use.start + len(rename.old_name) :]
    versions = (before, after_edit, edited.after, whole)
    texts = [with_plain_newlines(it).split("\n") for it in versions]
    if len({len(it) for it in texts}) > 1:
        return ()
    starts = line_offsets(edited.after)
    found = [
        NextEditOffer(
            lines=LineRange(start=line, end=line + 1),
            new_lines=(whole_line,),
            start=starts[line],
            end=starts[line + 1],
            text=whole_line + edited.after[starts[line] + len(now) : starts[line + 1]],
            gain=0.0,
            double_difference=0.0,
            level="sure",
            is_renamed=True,
        )
        for line, (old, edited_line, now, whole_line) in enumerate(zip(*texts, strict=True))
        if whole_line != now and now in (old, edited_line)
    ]
    return tuple(sorted(found, key=lambda it: it.lines.start < edit.new_start))


def is_same_rename(rename: Rename, old: str, new: str, language: Language) -> bool:
    """Whether a text becomes another one by the rename of each whole word in it, and of one."""
    renamed = _word_of(language).sub(
        lambda word: rename.new_name if word[0] == rename.old_name else word[0], old
    )
    return old != new == renamed


def _word_of(language: Language) -> re.Pattern[str]:
    return _WORD_WITH_DOLLAR if "$" in language.name_marks else _WORD


def _replaced_words(before: str, after: str, word: re.Pattern[str]) -> list[_Replaced] | None:
    """Return the words that differ, None where anything else does."""
    old_lines, new_lines = before.split("\n"), after.split("\n")
    if len(old_lines) != len(new_lines):
        return None
    found: list[_Replaced] = []
    old_start = new_start = 0
    for old, new in zip(old_lines, new_lines, strict=True):
        if old != new:
            line = list(_replaced_in_line(old, new, word))
            if not line:
                return None
            found += [
                _Replaced(
                    old=it.old,
                    new=it.new,
                    old_start=old_start + it.old_start,
                    new_start=new_start + it.new_start,
                )
                for it in line
            ]
        old_start += len(old) + 1
        new_start += len(new) + 1
    return found


def _replaced_in_line(before: str, after: str, word: re.Pattern[str]) -> Iterator[_Replaced]:
    """Yield the words that differ, none where what is between the words differs."""
    old_parts, new_parts = word.split(before), word.split(after)
    if old_parts[::2] != new_parts[::2]:
        return
    old_start = new_start = 0
    for old, new in zip(old_parts, new_parts, strict=True):
        if old != new:
            yield _Replaced(old=old, new=new, old_start=old_start, new_start=new_start)
        old_start += len(old)
        new_start += len(new)


def _is_name(text: str, start: int, name: str, language: Language) -> bool:
    """Whether this word is an identifier: neither keyword nor number, and in no string."""
    syntax = parse(text, language)
    nodes = [] if syntax is None else nodes_at(syntax, start)
    if syntax is None or not nodes:
        return False
    node = nodes[-1]
    is_whole = (node.start_byte, node.end_byte) == (
        syntax.byte_at(start),
        syntax.byte_at(start + len(name)),
    )
    return is_whole and node.is_named and ("identifier" in node.type or node.type in _NAMES)
