"""Renamed declarations: all their uses are offered without a model, and nothing else is.

In renamed_uses.toml a mark follows each name that one rename changes; its first place is the
declaration. A shorthand has two marks: of its key, and of its value.
"""

import re
import tomllib
from pathlib import Path

import pytest

from intarsia.infill.languages import language_for_id
from intarsia.infill.next_edit.plan import EditedText
from intarsia.infill.next_edit.renaming import renamed_uses
from intarsia.infill.next_edit.settled_edit import Hunk, settled_edit

DRAWN = tomllib.loads(Path(__file__).with_name("renamed_uses.toml").read_text(encoding="utf-8"))
SOURCES = dict(DRAWN["source"])
SOURCES["go, long"] = (
    SOURCES["go"]
    + "func long(x int) int {\n\tx += 1\n"
    + "\tx += Total(x)\n" * 600
    + "\treturn x\n}\nfunc last(x *Article) int { return x.Total³(1) }\n"
)
_TAGGED = re.compile(r"([A-Za-z_]+)([¹²³⁴⁵⁶⁷⁸⁹ˣ]+)")
RENAMES = [
    (source, mark) for source, text in SOURCES.items() for mark in "¹²³⁴⁵⁶⁷⁸⁹" if mark in text
]


def offered(before: str, edited: str, language: str) -> str:
    """Return the edited text with all that is offered; nothing is offered that is not sure."""
    edit = settled_edit(before, edited)
    assert isinstance(edit, Hunk)
    text = EditedText(before=before, after=edited, edit=edit, newest=edit.new_range)
    offers = renamed_uses(text, language_for_id(language))
    assert {it.level for it in offers} <= {"sure"}
    for offer in sorted(offers, key=lambda it: -it.start):
        edited = offer.applied_to(edited)
    return edited


@pytest.mark.parametrize(("source", "mark"), RENAMES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_all_uses_of_a_renamed_declaration_are_offered(source: str, mark: str, newline: str):
    language = "python" if source in ("models", "inventory") else source.partition(",")[0]
    drawn = SOURCES[source].replace("\n", newline)

    def renamed(word: re.Match[str]) -> str:
        name, marks = word.groups()
        if mark not in marks:
            return name
        if len(marks) == 1:
            return "renamed"
        return f"renamed: {name}" if marks[0] == mark else f"{name}: renamed"

    before, after = _TAGGED.sub(r"\1", drawn), _TAGGED.sub(renamed, drawn)
    first = next(it for it in _TAGGED.finditer(drawn) if mark in it[2])
    start = len(_TAGGED.sub(r"\1", drawn[: first.start()]))
    edited = before[:start] + renamed(first) + before[start + len(first[1]) :]
    assert offered(before, edited, language) == after


@pytest.mark.parametrize(("language", "before", "old", "new"), DRAWN["other_edits"]["cases"])
def test_other_edits_give_no_sure_offer(language: str, before: str, old: str, new: str):
    edited = before.replace(old, new, 1)
    assert offered(before, edited, language) == edited
