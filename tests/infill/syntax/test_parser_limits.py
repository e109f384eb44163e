"""Texts on which a grammar would never end or would crash the process."""

import pytest

from intarsia.infill.holes.hole import Hole, find_hole
from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.grammar import load_grammar
from intarsia.infill.syntax.parse import parse
from intarsia.infill.syntax.parser_limits import is_beyond_grammar, parse_bounded

RUBY = language_for_id("ruby")
YAML = language_for_id("yaml")
SHELL = language_for_id("shellscript")
UNENDING = "<a>\n" * 50_000  # minutes in the shell grammar


def test_a_parse_that_does_not_end_is_given_up():
    grammar = SHELL.grammar
    assert grammar is not None
    assert parse_bounded(UNENDING.encode(), load_grammar(grammar)) is None
    assert parse_bounded(b"echo a\n", load_grammar(grammar)) is not None


def test_a_text_that_cannot_be_parsed_still_has_holes():
    assert parse(UNENDING, SHELL) is None
    assert isinstance(find_hole(UNENDING, 100, SHELL), Hole)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = <<~SQL\n  select 1\nSQL\n" * 50, False),
        ('puts "#{name}"\n' * 100, False),
        ("x << y\n" * 1000, False),
        ('x = <<~"SQL\n' + "  select 1\n" * 30, True),
        ("<<A," * 300, True),
        ('"#{' * 250, True),
        ("x = <<'" + "ü" * 200 + "'\n", True),
    ],
)
def test_ruby_texts_that_its_grammar_may_not_survive(text, expected):
    assert is_beyond_grammar(text, RUBY) is expected
    assert not is_beyond_grammar(text, SHELL)
    assert (parse(text, RUBY) is None) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n  - b: c\n    d: [1, 2]\n" * 500, False),
        ("- " * 255, True),
        ("? " * 255, True),
        ("".join(" " * (6 * depth) + "- - -\n" for depth in range(90)), True),
    ],
)
def test_yaml_texts_that_its_grammar_may_not_survive(text, expected):
    assert is_beyond_grammar(text, YAML) is expected
    assert (parse(text, YAML) is None) is expected
