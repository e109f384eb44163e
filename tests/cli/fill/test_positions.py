"""LINE:COL as people write it, to offsets and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.cli.errors import CliError
from intarsia.cli.fill.positions import (
    Position,
    offset_of,
    parse_position,
    parse_range,
    position_of,
)


@pytest.mark.parametrize(
    ("text", "word", "rest"),
    [
        ("ab\ncd", "1:1", "ab\ncd"),
        ("ab\ncd", "1:3", "\ncd"),
        ("ab\ncd", "2:2", "d"),
        ("ab\ncd", "2:3", ""),
        ("ab\r\ncd", "1:3", "\r\ncd"),
        ("ab\rcd", "2:1", "cd"),
        ("ab\n", "2:1", ""),
        ("", "1:1", ""),
        ("🦀é\u2028x", "1:4", "x"),  # characters count, and a line separator ends no line
        ("a\fb\nc", "2:1", "c"),
    ],
)
def test_a_position_is_where_an_editor_has_it(text: str, word: str, rest: str):
    assert text[offset_of(text, parse_position(word)) :] == rest


@pytest.mark.parametrize(
    ("text", "word", "says"),
    [
        ("ab\ncd", "1:4", "line 1 has columns 1 to 3"),
        ("ab\ncd", "3:1", "has 2 lines"),
        ("", "1:2", "line 1 has columns 1 to 1"),
        ("", "2:1", "has 1 line: give a line from 1 to 1"),
        ("ab\r\ncd", "1:4", "columns 1 to 3"),
    ],
)
def test_a_position_outside_the_text_says_what_there_is(text: str, word: str, says: str):
    with pytest.raises(CliError, match=says):
        offset_of(text, parse_position(word))


@pytest.mark.parametrize(
    "word", ["", "1", "1:", ":1", "0:1", "1:0", "-1:1", "1:1:1", "a:b", "１:１"]
)
def test_what_is_no_position_is_refused(word: str):
    with pytest.raises(ValueError, match="is no position"):
        parse_position(word)


@pytest.mark.parametrize(
    ("word", "says"),
    [("1:1", "is no range"), ("2:1-1:1", "ends before it starts"), ("1:1-x", "is no position")],
)
def test_what_is_no_range_is_refused(word: str, says: str):
    with pytest.raises(ValueError, match=says):
        parse_range(word)


def test_an_empty_range_is_a_range():
    found = parse_range("3:4-3:4")
    assert found.start == found.end == Position(line=3, column=4)


@given(st.text(alphabet="ab \t\r\n\f🦀\u2028"), st.integers(min_value=0))
def test_an_offset_survives_the_way_to_a_position_and_back(text: str, number: int):
    offset = number % (len(text) + 1)
    if text[:offset].endswith("\r") and text[offset:].startswith("\n"):
        offset -= 1  # no position lies between the two
    assert offset_of(text, position_of(text, offset)) == offset
