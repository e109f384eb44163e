import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked_text import read_marked

from intarsia.infill.languages import LANGUAGES, PLAIN_TEXT, language_for_id
from intarsia.infill.syntax.nodes import (
    comment_at,
    edges_of_scopes,
    is_code,
    is_inside_string,
    nodes_at,
    num_errors,
)
from intarsia.infill.syntax.parse import MAX_LINE_CHARS, MAX_PARSED_CHARS, parse, parse_edited

PYTHON = language_for_id("python")


def test_plain_text_and_huge_texts_are_not_parsed():
    assert parse("x", PLAIN_TEXT) is None
    assert parse("x = 1\n" * (MAX_PARSED_CHARS // 6 + 1), PYTHON) is None
    assert parse("x" * (MAX_LINE_CHARS + 1), PYTHON) is None
    assert parse("a = 1\n" * 10_000, PYTHON) is not None


def test_the_same_text_is_parsed_once():
    text = "once = 1\n"
    assert parse(text, PYTHON) is parse(text, PYTHON)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.id)
@pytest.mark.parametrize(
    "text", ["", "\0", "\ufeff", "\r\n", "\ud800 x", "😀 = '😀'\r\n", "({[<\"'"]
)
def test_any_text_parses(text, language):
    syntax = parse(text, language)
    assert syntax is not None
    for offset in range(len(text) + 1):
        nodes_at(syntax, offset)
        is_inside_string(syntax, offset)
    num_errors(syntax)


@pytest.mark.parametrize(
    ("source", "language_id", "expected"),
    [
        ("x = 'a║b'", "python", True),
        ("x = ║'ab'", "python", False),
        ("x = 'ab'║", "python", False),
        ("x = f'a{║b}c'", "python", False),
        ("x = '😀ü║b'", "python", True),
        ("`a${║b}`", "javascript", False),
        ("`a║${b}`", "javascript", True),
        ('let x = "a║b";', "rust", True),
        ('{"a": "b║"}', "json", True),
        ('echo "a║b"', "shellscript", True),
        ("let x: str║ing", "typescript", False),
    ],
)
def test_inside_a_string(source, language_id, expected):
    marked = read_marked(source)
    syntax = parse(marked.text, language_for_id(language_id))
    assert is_inside_string(syntax, marked.start) is expected


def test_comments_are_no_code():
    text = "ü = 1  # why:\n"
    syntax = parse(text, PYTHON)
    assert comment_at(syntax, text.index(":")) == text.index("#")
    assert not is_code(syntax, text.index(":"))
    assert is_code(syntax, 0)
    assert is_code(None, 0)


def test_errors_are_counted():
    assert num_errors(parse("x = (1)\n", PYTHON)) == 0
    assert num_errors(parse("x = (1\n", PYTHON)) > 0
    assert num_errors(parse("{", language_for_id("css"))) > 0


def test_edges_of_scopes_are_those_of_the_outermost_scope_that_has_any():
    text = "def a():\n    x = 1\n    y = 2\n\ndef b():\n    z = 3\n"
    syntax = parse(text, PYTHON)
    assert edges_of_scopes(syntax, 1, len(text)) == [text.index("def b")]
    assert edges_of_scopes(syntax, 14, 28) == [text.index("y =")]
    assert edges_of_scopes(None, 0, 10) == []


def test_an_edit_is_parsed_as_the_whole_text_would_be():
    text = "def f():\r\n    ü = '😀'\r\n    return ü\r\n"
    edited = parse_edited(parse(text, PYTHON), 14, 21, "y = [1, 2]")
    fresh = parse(edited.text + " ", PYTHON)
    assert edited.text == text[:14] + "y = [1, 2]" + text[21:]
    assert str(edited.tree.root_node) == str(fresh.tree.root_node)


@settings(max_examples=60)
@given(st.text("ab(){}[]:='\"\n 😀ü#", max_size=40), st.data())
def test_nodes_at_is_the_path_of_nodes_that_hold_a_character(text, data):
    syntax = parse(text, PYTHON)
    offset = data.draw(st.integers(0, len(text)))
    byte, node, path = syntax.byte_at(offset), syntax.tree.root_node, []
    while node is not None and node.start_byte <= byte < node.end_byte:
        path.append(node.id)
        node = next((it for it in node.children if it.start_byte <= byte < it.end_byte), None)
    assert [it.id for it in nodes_at(syntax, offset)] == path
