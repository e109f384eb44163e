"""No text that a command shows can make a terminal do something, or forge a line."""

import sys
import unicodedata

import pytest

from intarsia.cli.terminal import displayable


def test_of_all_characters_only_those_that_are_seen_reach_a_terminal() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    shown = {unicodedata.category(character) for character in displayable(every)}
    assert shown & {"Cf", "Co", "Cs"} == set()
    assert {it for it in displayable(every) if unicodedata.category(it) == "Cc"} == {"\n"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ß日😀", "plain ß日😀"),
        ("a\tb\r\nc\rd", "a    b\nc\nd"),
        ("ev\x1b]0;own\x07il", "ev␛]0;own␇il"),
        ("\x9b31m\x7f", "�31m␡"),
        ("a\u202eb\u200bc\ufeffd\u2060e\U000e0041f\ue000g\ud83dh", "a�b�c�d�e�f�g�h"),
    ],
)
def test_what_is_not_seen_is_shown_as_a_sign(text: str, shown: str) -> None:
    assert displayable(text) == shown
