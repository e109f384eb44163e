"""Lines of a text: ends, indentation, brackets, the next line, hidden characters, differences."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marked_text import read_marked

from intarsia.infill.holes.hole import end_and_next_line
from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.text import (
    balance_of,
    columns,
    first_hidden,
    indent_unit,
    last_non_blank,
    line_at,
    line_end,
    newline_of,
    next_line_start,
    next_non_blank_line,
    opener_of,
    replaced_range,
    splits_line_end,
    with_plain_newlines,
)

DRAWN = tomllib.loads(Path(__file__).with_name("lines.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("source", "line"), DRAWN["line_end"]["cases"])
def test_a_line_ends_at_lf_crlf_or_cr(source, line):
    marked = read_marked(source)
    assert line_at(marked.text, marked.start) == line


def test_next_line_starts_after_the_whole_line_end():
    assert next_line_start("a\r\nb", 0) == 3
    assert next_line_start("a", 0) == 1
    assert line_end("a\r\nb", 0) == 1


def test_newlines_become_lf_and_the_first_one_is_remembered():
    assert with_plain_newlines("a\r\nb\rc\n") == "a\nb\nc\n"
    assert newline_of("a\r\nb\n") == "\r\n"
    assert newline_of("a") == "\n"


def test_next_non_blank_line_skips_blank_ones():
    assert next_non_blank_line("a\n\n  \n b\n", 0) == " b"
    assert next_non_blank_line("a\n\n", 0) is None


def test_tabs_go_on_to_the_next_multiple_of_eight():
    assert [columns(line) for line in ("", "  x", "\tx", "  \tx", "\t x")] == [0, 2, 8, 8, 9]


def test_only_the_middle_of_a_crlf_splits_it():
    assert [splits_line_end("\r\n\r", offset) for offset in range(4)] == [False, True, False, False]


def test_last_non_blank_looks_over_lines():
    assert last_non_blank("a \n\n", 4) == 0
    assert last_non_blank(" \n", 2) == -1


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("a\n    b\n        c\n", "    "),
        ("a\n  b\n    c\n  d\n    e\n", "  "),
        ("a\n\tb\n", "\t"),
        ("a\nb\n", None),
        ("", None),
        ("/**\n * a\n */\nf {\n\tb\n}\n", "\t"),
        ("        a\n        b\n", "        "),
        (
            'f\n    """A.\n\n    B\n      c\n    B\n      c\n    B\n      c\n    """\n    d\n',
            "    ",
        ),
    ],
)
def test_the_unit_is_the_usual_step_of_the_text(text, unit):
    assert indent_unit(text) == unit


@pytest.mark.parametrize(("code", "unmatched", "unclosed"), DRAWN["brackets"]["cases"])
def test_brackets_are_matched_outside_strings(code, unmatched, unclosed):
    balance = balance_of(code)
    assert [[*balance.unmatched], [*balance.unclosed]] == [unmatched, unclosed]


def test_opener_of_a_closing_bracket():
    assert opener_of("f(a, (b),\n c)", 12) == 1
    assert opener_of("a)", 1) is None
    assert opener_of("[a)", 2) is None


@pytest.mark.parametrize(("language", "text", "typed"), DRAWN["enter"]["cases"])
def test_what_enter_inserts(language: str, text: str, typed: str) -> None:
    offset = text.index("|")
    text = text.replace("|", "")
    end, inserted = end_and_next_line(text, offset, language_for_id(language))
    assert inserted == typed
    assert text[end : end + 1] in ("", "\r", "\n")
    assert end >= offset


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\n",
        "ßé日本語",
        "👨\u200d👩\u200d👧",  # joined emoji
        "❤\ufe0f 1\ufe0f\u20e3",
        "می\u200cخواهم",  # Persian, with a non-joiner
        "\u0600١",  # a sign of Arabic numbers
        "e\u0301",
    ],
)
def test_text_that_is_seen_has_none(text: str) -> None:
    assert first_hidden(text) is None


@pytest.mark.parametrize(
    "character",
    [
        *("\x00", "\x07", "\x08", "\x0c", "\r", "\x1b", "\x7f", "\x85", "\x9b"),
        *("\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"),
        *("\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\ufff9"),
        *("\u2028", "\u2029", "\u3164", "\u115f", "\u034f", "\ufe0f", "\U000e0100"),
        *("\U000e0041", "\U000e007f", "\U0001d173"),
    ],
)
def test_a_hidden_character_among_ascii_is_found(character: str) -> None:
    assert first_hidden(f"ab{character}c") == 2
    assert first_hidden(f"ab{character}c", known=f"x{character}") is None


def test_a_row_of_selectors_carries_a_message_and_is_found() -> None:
    assert first_hidden("😀\ufe0f\ufe01\ufe02") == 2


@given(st.text("ab\n", max_size=30), st.text("ab\n", max_size=30))
def test_replacing_the_stretch_gives_the_new_text(old, new):
    start, end, new_end = replaced_range(old, new)
    assert 0 <= start <= end <= len(old)
    assert old[:start] + new[start:new_end] + old[end:] == new


def test_one_typed_character_is_the_whole_difference():
    assert replaced_range("aab", "aacb") == (2, 2, 3)
    assert replaced_range("same", "same") == (4, 4, 4)
