"""What rules propose at an error, by language; and what no proposal ever does."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.languages import language_for_id
from intarsia.infill.repair.error_places import error_on_lines
from intarsia.infill.repair.proposals_at import Found, Span, find_proposals
from intarsia.infill.replacement import with_replaced
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.nodes import num_errors
from intarsia.infill.syntax.parse import parse_afresh

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))["case"]
PYTHON = language_for_id("python")
GOOD = (
    "import os\n\n\ndef f(a, b):\n    if a and b:\n        return g(a, [b], {1: 2})\n    return a\n"
)


def found_in(text: str, start: int = 0, end: int = 0, language: str = "python") -> Found:
    found = find_proposals(text, start, end, language_for_id(language))
    assert isinstance(found, Found), found
    return found


def repaired(found: Found) -> list[str]:
    return [with_replaced(found.syntax.text, [edit.replacement]) for edit in found.edits]


@pytest.mark.parametrize("case", CASES, ids=[f"{it['language']}: {it['name']}" for it in CASES])
def test_the_repair_is_among_the_proposals(case: dict[str, Any]):
    found = found_in(case["broken"], language=case["language"])
    assert case["repaired"] in repaired(found)


@settings(max_examples=20)  # each parses some hundred texts
@given(
    st.integers(0, len(GOOD)), st.integers(0, 3), st.sampled_from(["", ")", "(", "x ", "if", "é"])
)
def test_no_proposal_leaves_as_many_errors_as_there_were(at: int, length: int, new: str):
    broken = GOOD[:at] + new + GOOD[at + length :]
    syntax = parse_afresh(broken, PYTHON)
    assert syntax is not None
    before = num_errors(syntax)
    found = find_proposals(broken, at, at, PYTHON)
    if not before or isinstance(found, NoSuggestion):
        return
    for edit in found.edits:
        assert 0 <= edit.start <= edit.end <= len(broken)
        if found.check.passes_afresh(edit):
            after = parse_afresh(with_replaced(broken, [edit.replacement]), PYTHON)
            assert after is not None and num_errors(after) < before


def test_a_missing_name_is_a_span_to_be_refilled():
    text = "def f(a):\n    return g(a).\n"
    found = found_in(text)
    assert Span(start=len(text) - 1, end=len(text) - 1) in found.spans


def test_of_two_errors_the_nearest_to_the_range_is_repaired():
    text = "x = = 1\n\n\n" + "a = 1\n" * 20 + "y = = 2\n"
    at = text.index("y")
    assert text.replace("y = = 2", "y = 2") in repaired(found_in(text, at, at))
    assert text.replace("x = = 1", "x = 1") not in repaired(found_in(text, at, at))


def test_in_code_that_parses_names_that_resemble_the_one_in_the_range_are_proposed():
    text = "length = 1\nwidth = 2\nprint(lenght)\n"
    start = text.index("lenght")
    found = found_in(text, start, start + 6)
    assert repaired(found) == [text.replace("lenght", "length")]
    assert found.spans == [Span(start=start, end=start + 6)]


@pytest.mark.parametrize(("line", "is_there"), [(0, False), (3, True), (4, True), (7, False)])
def test_an_error_is_on_the_line_where_the_parser_stops_or_before_it(line: int, is_there: bool):
    text = "x = 1\n\n\ny = (1\nz = 2\n\n\nw = 3\n"
    start = sum(len(it) for it in text.splitlines(keepends=True)[:line])
    assert (error_on_lines(text, start, start, PYTHON) is not None) == is_there


def test_a_language_without_a_grammar_is_refused():
    found = find_proposals("(", 0, 0, language_for_id("no-such-language"))
    assert isinstance(found, NoSuggestion)
    assert "cannot be parsed" in found.reason
