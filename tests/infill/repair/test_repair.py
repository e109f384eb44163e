"""Repairs: what is wrong at an error, and texts that mend it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_engine import filled_with

from intarsia.engine.ipc.messages import Fill, Filled, ScoreTexts, TextScores
from intarsia.infill.filling.plan import FillOptions, OnStep
from intarsia.infill.languages import language_for_id
from intarsia.infill.repair.error_places import error_on_lines
from intarsia.infill.repair.find_repair import Asking, Repair, description_of, find_repair
from intarsia.infill.repair.proposals import Found, find_proposals
from intarsia.infill.replacement import with_replaced
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.tree import num_errors, parse_afresh
from intarsia.infill.text_change import TextRange


class Model:
    """Gives texts the gains of the first line that they contain, and fills with one answer."""

    def __init__(self, gains: Mapping[str, float], answer: str = "") -> None:
        self.gains = gains
        self.answer = answer
        self.num_fills = 0

    async def fill(self, request: Fill, on_step: OnStep | None = None) -> Filled | NoSuggestion:
        self.num_fills += 1
        return filled_with(self.answer, id=request.id)

    async def scores(self, request: ScoreTexts) -> TextScores | NoSuggestion:
        wholes = [request.prefix + text + request.suffix for text in request.texts]
        gains = (
            next((gain for line, gain in self.gains.items() if line in whole), -5.0)
            for whole in wholes
        )
        return TextScores(id=request.id, gains=tuple(gains), ms=0.0)


async def repair_of(text: str, model: Model) -> Repair | NoSuggestion:
    found = find_proposals(text, 0, 0, language_for_id("python"))
    assert isinstance(found, Found)
    asking = Asking(fill=model.fill, scores=model.scores, options=FillOptions())
    return await find_repair(asking, found)


async def test_the_likeliest_edit_is_the_repair():
    text = "x = = 1\n"
    model = Model({"x = 1\n": 12.0})
    repair = await repair_of(text, model)
    assert isinstance(repair, Repair) and repair.gain == 12.0
    assert with_replaced(text, [repair.replacement]) == "x = 1\n"
    assert description_of(text, repair) == 'delete "="'
    assert not model.num_fills


async def test_what_gains_less_than_two_nats_is_no_repair():
    assert isinstance(await repair_of("x = = 1\n", Model({"x = 1\n": 1.9})), NoSuggestion)


async def test_of_edits_about_as_likely_the_smallest_is_taken():
    text = "f(a, b\n"
    model = Model({"f(a, b)": 9.0, "f(a, )": 9.5})
    repair = await repair_of(text, model)
    assert isinstance(repair, Repair)
    assert with_replaced(text, [repair.replacement]) == "f(a, b)\n"


async def test_a_missing_name_is_written_by_the_model():
    text = "def f(a):\n    return a.\n"
    model = Model({"return a.size": 9.0}, answer="size\n")
    repair = await repair_of(text, model)
    assert isinstance(repair, Repair) and repair.kind == "refill"
    assert with_replaced(text, [repair.replacement]) == "def f(a):\n    return a.size\n"


async def test_a_refill_that_does_not_parse_is_not_compared():
    model = Model({"a.(": 50.0}, answer="(")
    assert isinstance(await repair_of("def f(a):\n    return a.\n", model), NoSuggestion)


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
    assert TextRange(start=len(text) - 1, end=len(text) - 1) in found.spans


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
    assert found.spans == [TextRange(start=start, end=start + 6)]


@pytest.mark.parametrize(("line", "is_there"), [(0, False), (3, True), (4, True), (7, False)])
def test_an_error_is_on_the_line_where_the_parser_stops_or_before_it(line: int, is_there: bool):
    text = "x = 1\n\n\ny = (1\nz = 2\n\n\nw = 3\n"
    start = sum(len(it) for it in text.splitlines(keepends=True)[:line])
    assert (error_on_lines(text, start, start, PYTHON) is not None) == is_there


def test_a_language_without_a_grammar_is_refused():
    found = find_proposals("(", 0, 0, language_for_id("no-such-language"))
    assert isinstance(found, NoSuggestion)
    assert "cannot be parsed" in found.reason
