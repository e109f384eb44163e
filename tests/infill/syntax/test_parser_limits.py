"""Texts on which a grammar would never end or would crash the process."""

import gc
import time
import tracemalloc

import pytest

from intarsia.infill.holes.hole import Hole, find_hole
from intarsia.infill.languages import Language, language_for_id
from intarsia.infill.syntax.grammar import load_grammar
from intarsia.infill.syntax.parse import parse
from intarsia.infill.syntax.parser_limits import (
    LIMIT_S,
    LIMIT_S_PER_MEGABYTE,
    is_beyond_grammar,
    parse_bounded,
)

RUBY = language_for_id("ruby")
YAML = language_for_id("yaml")
PYTHON = language_for_id("python")
SHELL = language_for_id("shellscript")
BLANKS = [" " * level + "x\n" for level in range(40)]
UNENDING = "<a>\n" * 50_000  # minutes in the shell grammar


def test_a_parse_that_does_not_end_is_given_up():
    grammar = SHELL.grammar
    assert grammar is not None
    assert parse_bounded(UNENDING.encode(), load_grammar(grammar)) is None
    assert parse_bounded(b"echo a\n", load_grammar(grammar)) is not None


def test_parses_keep_no_text_and_nodes_tell_theirs():
    assert PYTHON.grammar is not None
    grammar, text = load_grammar(PYTHON.grammar), "value = 'a text of many bytes'\n" * 4_000

    def parse_often() -> int:
        for number in range(20):
            tree = parse_bounded(f"{text}last = {number}\n".encode(), grammar)
            assert tree is not None
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
def test_texts_that_a_grammar_may_not_survive(
    language: Language, text: str, expected: bool
) -> None:
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
    assert grammar is not None
    started = time.process_time()
    assert parse_bounded(b"/*\n" * 200_000, load_grammar(grammar)) is None
    assert time.process_time() - started < 10 * (LIMIT_S + 0.6 * LIMIT_S_PER_MEGABYTE)
