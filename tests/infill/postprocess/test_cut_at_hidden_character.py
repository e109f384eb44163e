import pytest
from drawn_hole import drawn_hole

from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.postprocess.align_tokens import align
from intarsia.infill.postprocess.cut_at_hidden_character import cut_at_hidden_character
from intarsia.infill.suggestion import Suggestion


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("x = ║", "'a'\x1b]0;title\x07", "'a'"),
        ("x = ║", "'\x9b31m'", "'"),
        ("x = ║", "a\u202e + b", "a"),
        ("x = ║", "\U000e0041b", ""),
        ("x = ║", "a\u200b", "a"),
        ("x = ║", "'👨\u200d👩'", "'👨\u200d👩'"),
        ("x = ║", "a\n\tb", "a\n\tb"),
        ("# \u200b\nx = ║", "a\u200bb", "a\u200bb"),
        ("# \u200b\nx = ║", "a\u200bb\u202ec", "a\u200bb"),
    ],
)
def test_a_fill_ends_where_it_hides_something_new(source: str, fill: str, expected: str) -> None:
    assert cut_at_hidden_character(fill, drawn_hole(source).context()) == expected


def test_no_suggestion_has_a_raw_escape() -> None:
    assert drawn_hole("x = ║").draw("1\x1b[2J") == "x = ├1┤"
    assert drawn_hole("x = ║").draw("\x1b[2J1").startswith("nothing was left")


def test_what_is_kept_keeps_its_confidences() -> None:
    written = [
        ConfidentToken("1 ", 0.9),
        ConfidentToken("+ 2\u202e", 0.7),
        ConfidentToken("3", 0.5),
    ]
    cleaned = drawn_hole("x = ║").clean("".join(token.text for token in written))
    assert isinstance(cleaned, Suggestion)
    assert align(written, cleaned.text) == (ConfidentToken("1 ", 0.9), ConfidentToken("+ 2", 0.7))
