"""The syntax of texts, also of those on which a grammar would never end or would crash."""

import gc
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marked_text import read_marked

from intarsia.infill.holes.hole import Hole, find_hole
from intarsia.infill.languages import PLAIN_TEXT, all_languages, language_for_id
from intarsia.infill.syntax.tree import (
    LIMIT_S,
    LIMIT_S_PER_MEGABYTE,
    MAX_LINE_CHARS,
    MAX_PARSED_CHARS,
    comment_at,
    edges_of_scopes,
    is_beyond_grammar,
    is_code,
    is_inside_string,
    load_grammar,
    nodes_at,
    num_errors,
    parse,
    parse_bounded,
    parse_edited,
)

PYTHON = language_for_id("python")


def test_plain_text_and_huge_texts_are_not_parsed():
    assert parse("x", PLAIN_TEXT) is None
    assert parse("x = 1\n" * (MAX_PARSED_CHARS // 6 + 1), PYTHON) is None
    assert parse("x" * (MAX_LINE_CHARS + 1), PYTHON) is None
    assert parse("a = 1\n" * 10_000, PYTHON) is not None


def test_the_same_text_is_parsed_once():
    text = "once = 1\n"
    assert parse(text, PYTHON) is parse(text, PYTHON)


@pytest.mark.parametrize("language", all_languages(), ids=lambda language: language.id)
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


RUBY = language_for_id("ruby")
YAML = language_for_id("yaml")
SHELL = language_for_id("shellscript")
BLANKS = [" " * level + "x\n" for level in range(40)]
UNENDING = "<a>\n" * 50_000  # minutes in the shell grammar


def test_parses_keep_no_text_and_nodes_tell_theirs():
    grammar, text = load_grammar(PYTHON.grammar), "value = 'a text of many bytes'\n" * 4_000

    def parse_often() -> int:
        for number in range(20):
            tree = parse_bounded(f"{text}last = {number}\n".encode(), grammar)
            assert tree.root_node.children[-1].text == f"last = {number}".encode()
            assert tree.root_node.text == f"{text}last = {number}\n".encode()
        del tree
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = parse_often()
        assert parse_often() - before < len(text)
    finally:
        tracemalloc.stop()


def test_a_text_that_cannot_be_parsed_still_has_holes():
    assert parse(UNENDING, SHELL) is None
    assert isinstance(find_hole(UNENDING, 100, SHELL), Hole)


def blocks_in_blocks(depth: int, indent: str = " ") -> str:
    return "".join(indent * level + "if x:\n" for level in range(depth)) + indent * depth


FRAGILE = {
    RUBY: [
        ("x = <<~SQL\n  select 1\nSQL\n" * 50, False),
        ('puts "#{name}"\n' * 100, False),
        ("x << y\n" * 1000, False),
        ('x = <<~"SQL\n' + "  select 1\n" * 30, True),
        ("<<A," * 300, True),
        ('"#{' * 250, True),
        ("x = <<'" + "ü" * 200 + "'\n", True),
    ],
    YAML: [
        ("a:\n  - b: c\n    d: [1, 2]\n" * 500, False),
        ("- " * 255, True),
        ("? " * 255, True),
        ("".join(" " * (6 * depth) + "- - -\n" for depth in range(90)), True),
    ],
    PYTHON: [
        (blocks_in_blocks(100, "    ") + "x = 'a'\n", False),
        (blocks_in_blocks(40, "\t") + "x = 'a'\n", False),
        ("x = [\n" + "".join(" " * column + "1,\n" for column in range(300)) + "]\n", False),
        (blocks_in_blocks(520) + "x = '", True),
        (blocks_in_blocks(520, "\t") + "x = '", True),
        (blocks_in_blocks(520).replace("\n", "\r") + "x = '", True),
        ("if x:\n" + (" " * 20 + "\\\n") * 40 + "".join(BLANKS[:30]) + "x = '", True),
        ("if x and \\\n" + "        y:\n    z = 1 + \\\n        2\n" * 500, False),
    ],
}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [(language, *row) for language, rows in FRAGILE.items() for row in rows],
)
def test_texts_that_a_grammar_may_not_survive(language, text, expected):
    assert is_beyond_grammar(text, language) is expected
    assert not is_beyond_grammar(text, SHELL)
    assert (parse(text, language) is None) is expected


@pytest.mark.parametrize(("num_open", "expected"), [(2_000, True), (20_000, False)])
def test_a_text_with_little_but_errors_is_plain_text(num_open: int, expected: bool) -> None:
    assert (parse("x = " + "(\n" * num_open, PYTHON) is not None) is expected


def test_long_code_with_one_error_is_parsed() -> None:
    assert parse("def f():\n    return 1\n" * 20_000 + "x = (((\n", PYTHON) is not None


def test_a_token_that_runs_on_for_ever_ends_the_parse_in_time() -> None:
    grammar = language_for_id("c").grammar
    started = time.process_time()
    assert parse_bounded(b"/*\n" * 200_000, load_grammar(grammar)) is None
    assert time.process_time() - started < 10 * (LIMIT_S + 0.6 * LIMIT_S_PER_MEGABYTE)
