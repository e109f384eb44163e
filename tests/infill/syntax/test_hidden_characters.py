"""Which characters change text without being seen, and which only seem to."""

import pytest

from intarsia.infill.syntax.hidden_characters import first_hidden


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


def test_the_first_one_that_is_not_known_counts() -> None:
    assert first_hidden("a\u200bb\u202ec", known="\u200b") == 3


def test_a_row_of_selectors_carries_a_message_and_is_found() -> None:
    assert first_hidden("😀\ufe0f\ufe01\ufe02") == 2
