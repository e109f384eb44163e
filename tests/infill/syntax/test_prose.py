"""Comments, documentation and strings are told from code, also while they are being written."""

import tomllib
from pathlib import Path

import pytest

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.tree import parse, prose_at

DRAWN = tomllib.loads(Path(__file__).with_name("prose.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("kind", "language", "marked"),
    [(kind, *case) for kind, cases in DRAWN.items() for case in cases],
)
def test_prose_is_told_also_before_it_is_closed(kind, language, marked):
    """A docstring with words is a comment; documentation without a word has just begun."""
    offset = marked.index("|")
    text = marked[:offset] + marked[offset + 1 :]
    assert (prose_at(parse(text, language_for_id(language)), offset) or "code") == kind
