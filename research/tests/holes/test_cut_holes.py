"""The ranges that are cut as holes (cut_holes.toml), the kinds of characters, and any text."""

import tomllib
from pathlib import Path

import pytest
from code_like_text import languages, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from marked_text import read_marked

from intarsia.infill.languages import PLAIN_TEXT, all_languages, language_for_id
from intarsia.infill.syntax.tree import (
    MAX_LINE_CHARS,
    comment_at,
    is_code,
    is_inside_string,
    parse,
    parse_afresh,
)
from intarsia_research.holes.cut_holes import (
    CODE,
    COMMENT,
    CUT_HOLE_KINDS,
    EXPRESSION_CHARS,
    MAX_BLOCK_LINES,
    STRING,
    cut_holes,
    map_code,
    offsets_of_bytes,
)
from intarsia_research.holes.node_table import hole_nodes

PYTHON = language_for_id("python")
TABLES = tomllib.loads(Path(__file__).with_name("cut_holes.toml").read_text(encoding="utf-8"))
CASES = TABLES["case"]
DRAWN = [
    pytest.param(case, kind, id=f"{case['language']}: {kind}")
    for case in CASES
    for kind in CUT_HOLE_KINDS
    if kind in case
]
TO_THE_LINE_END = ("rest_of_line", "inside_word")


def draw(text, holes):
    """Draw each hole as ``⟦…⟧``; they may be nested."""
    starts = [(hole.start, 1, -hole.end, "⟦") for hole in holes]
    ends = [(hole.end, 0, -hole.start, "⟧") for hole in holes]
    for offset, _, _, mark in sorted([*starts, *ends], reverse=True):
        text = text[:offset] + mark + text[offset:]
    return text


def draw_starts(text, holes):
    for hole in reversed(holes):
        text = text[: hole.start] + "║" + text[hole.start :]
    return text


def truths(text, kind, language=PYTHON):
    return [text[hole.start : hole.end] for hole in cut_holes(text, language)[kind]]


def undrawn(drawing):
    return drawing.replace("⟦", "").replace("⟧", "")


@pytest.mark.parametrize(("case", "kind"), DRAWN)
def test_case(case, kind):
    text = undrawn(case[kind])
    holes = cut_holes(text, language_for_id(case["language"]))[kind]
    assert draw(text, holes) == case[kind]


def test_the_cases_cover_every_row():
    rows = {id(row): row for language in all_languages() if (row := hole_nodes(language))}
    for row in rows.values():
        told = [case for case in CASES if case["language"] in row.language_ids]
        for kind in ("block", "expression", *(["arguments"] if row.arguments else [])):
            assert any(kind in case for case in told), (row.language_ids, kind)


@pytest.mark.parametrize(
    ("kind", "drawing", "language_id"),
    [(kind, *row) for kind, rows in TABLES["starts"].items() for row in rows],
)
def test_the_rest_of_a_line_and_of_a_word_begin_where_it_is_drawn(kind, drawing, language_id):
    text = drawing.replace("║", "")
    holes = cut_holes(text, language_for_id(language_id))[kind]
    assert draw_starts(text, holes) == drawing


def test_a_hole_ends_where_its_line_does_without_blanks():
    text = "if value:  \r\n    return None\t\r\n"
    for kind in TO_THE_LINE_END:
        assert {text[hole.end :] for hole in cut_holes(text, PYTHON)[kind]} == {
            "  \r\n    return None\t\r\n",
            "\t\r\n",
        }


@pytest.mark.parametrize(("text", "language_id", "lines"), TABLES["lines"]["cases"])
def test_a_line_has_code_and_is_whole(text, language_id, lines):
    assert truths(text, "line", language_for_id(language_id)) == lines


def test_a_body_begins_after_its_docstring_and_comments():
    text = 'def f():\n    """Doc."""\n    # first\n    x = 1\n    # then\n    return x\n    # end\n'
    assert truths(text, "block") == ["x = 1\n    # then\n    return x"]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    pass\n",
        'def f():\n    """Doc."""\n',
        "def f(): return 1\n",
        "def f():\n    # nothing\n",
        "def f():\n    return (1\n",
        "class A:\n    x = 1\n    y = 2\n",
        "if x:\n    y = 1  # why\n",
        "if x:\n" + "    step()\n" * (MAX_BLOCK_LINES + 1),
    ],
)
def test_what_is_no_body_to_be_found(text):
    assert truths(text, "block") == []


def test_a_body_may_have_so_many_lines():
    body = "\r\n".join(["step()", *["    step()"] * (MAX_BLOCK_LINES - 1)])
    assert truths(f"if x:\r\n    {body}\r\n", "block") == [body]


def test_an_expression_is_neither_all_of_a_line_nor_longer_than_so_much():
    longest, longer = ("f('%s')" % ("x" * (EXPRESSION_CHARS[-1] - 5 + extra)) for extra in (0, 1))
    text = f"f(1, 2)\nx = {longest}\ny = {longer}\n"
    assert longest in truths(text, "expression")
    assert longer not in truths(text, "expression")
    assert "f(1, 2)" not in truths(text, "expression")


def test_broken_code_has_holes_outside_its_errors():
    text = "def f(x):\n    if x:\n        return g(x, 1)\n    y = (\n"
    assert "return g(x, 1)" in truths(text, "line")
    assert "x, 1" in truths(text, "arguments")


def test_plain_text_and_binary_text_have_none():
    for text, language in (("Some words here.\n", PLAIN_TEXT), ("x = value\n\0", PYTHON)):
        assert cut_holes(text, language) == {kind: [] for kind in CUT_HOLE_KINDS}


def test_a_text_beyond_the_parser_has_the_holes_of_its_lines():
    text = "y = '" + "x" * MAX_LINE_CHARS + "'\ndef f(value):\n    return f(value, 1)\n"
    holes = cut_holes(text, PYTHON)
    assert truths(text, "line") == ["def f(value):", "return f(value, 1)"]
    assert {kind for kind, found in holes.items() if found} == {"line", *TO_THE_LINE_END}


def test_other_texts_parsed_before_change_nothing():
    text = "def f(x:\n  'a\n return (x\n}\n"
    first = cut_holes(text, PYTHON)
    parse(text.replace("'a", "'a'"), PYTHON)
    assert cut_holes(text, PYTHON) == first


@settings(max_examples=100)
@given(texts, languages, st.integers(1, 3))
def test_holes_of_any_text_are_in_code(text, language, times):
    text *= times
    found = cut_holes(text, language)
    assert found == cut_holes(text, language)
    assert tuple(found) == CUT_HOLE_KINDS
    syntax = parse_afresh(text, language)
    for kind, holes in found.items():
        assert holes == sorted(set(holes), key=lambda hole: (hole.start, hole.end))
        for hole in holes:
            assert hole.kind == kind
            assert 0 <= hole.start < hole.end <= len(text)
            truth = text[hole.start : hole.end]
            assert len("".join(truth.split())) >= (4 if kind == "line" else 2)
            assert kind == "block" or not {"\n", "\r"} & set(truth)
            if syntax is not None:
                assert comment_at(syntax, hole.start) is None
                assert comment_at(syntax, hole.end - 1) is None
                assert not is_inside_string(syntax, hole.start)
                assert not is_inside_string(syntax, hole.end)


def test_a_mark_in_the_middle_of_non_ascii_text_is_where_it_is_drawn():
    marked = read_marked("é = '😀'; ü = rufe('😀', ║näher(1, 2)║)\n")
    assert (marked.start, marked.end) in [
        (hole.start, hole.end) for hole in cut_holes(marked.text, PYTHON)["expression"]
    ]


SIGNS = {CODE: ".", STRING: "s", COMMENT: "c"}


def draw_kinds(text, language_id, prose=frozenset()):
    syntax = parse_afresh(text, language_for_id(language_id))
    return "".join(SIGNS[code] for code in map_code(syntax, prose))


@pytest.mark.parametrize(
    ("text", "language_id", "drawn"),
    [
        ("x = 'ü' # ö", "python", "....sss.ccc"),
        ("x = f'a{b}c'", "python", "....sss...ss"),
        ("`a${b + 'c'}`", "javascript", "ss......sss.s"),
        ('f("a"); // b', "java", "..sss...cccc"),
        ('{"a": 1}', "json", ".sss...."),
        ("let x: string", "typescript", "............."),
    ],
)
def test_the_kind_of_each_character(text, language_id, drawn):
    assert draw_kinds(text, language_id) == drawn


def test_other_nodes_count_as_strings_when_named():
    text = "<p>Words</p>"
    assert draw_kinds(text, "javascript") == "." * 12
    assert draw_kinds(text, "javascript", frozenset({"jsx_text"})) == "...sssss...."


@settings(max_examples=100)
@given(texts, languages)
def test_the_map_agrees_with_is_code_at_every_offset(text, language):
    syntax = parse_afresh(text, language)
    if syntax is not None:
        codes = map_code(syntax)
        assert [code == CODE for code in codes] == [
            is_code(syntax, offset) for offset in range(len(text))
        ]


@settings(max_examples=100)
@given(st.text("aä😀\ud800\n", max_size=30))
def test_every_byte_has_the_offset_of_its_character_and_the_end_comes_last(text):
    widths = [len(character.encode("utf-8", "replace")) for character in text]
    expected = [offset for offset, width in enumerate(widths) for _ in range(width)]
    assert list(offsets_of_bytes(text)) == [*expected, len(text)]
