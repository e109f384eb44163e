"""The kind of each character, drawn as ``s`` (string), ``c`` (comment) or ``.`` (code)."""

import pytest
from code_like_text import languages, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.nodes import is_code
from intarsia.infill.syntax.parse import parse_afresh
from intarsia.training.code_map import CODE, COMMENT, STRING, map_code, offsets_of_bytes

SIGNS = {CODE: ".", STRING: "s", COMMENT: "c"}


def draw(text, language_id, prose=frozenset()):
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
def test_case(text, language_id, drawn):
    assert draw(text, language_id) == drawn


def test_other_nodes_count_as_strings_when_named():
    text = "<p>Words</p>"
    assert draw(text, "javascript") == "." * 12
    assert draw(text, "javascript", frozenset({"jsx_text"})) == "...sssss...."


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
