"""Where a cursor is in a block that was just opened, drawn in opened_blocks.toml."""

import tomllib
from pathlib import Path

import pytest
from marked_text import read_marked

from intarsia.infill.holes.hole import opened_block
from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.tree import parse

DRAWN = tomllib.loads(Path(__file__).with_name("opened_blocks.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("language_id", "source", "columns"),
    [*DRAWN["opened"], *((*case, None) for case in DRAWN["none"])],
)
def test_a_header_opens_a_block_with_its_indentation(language_id, source, columns):
    marked, language = read_marked(source), language_for_id(language_id)
    syntax = parse(marked.text, language)
    header = opened_block(marked.text, marked.start, language, syntax)
    assert (None if header is None else header.columns) == columns
