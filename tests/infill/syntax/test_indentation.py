import pytest

from intarsia.infill.syntax.indentation import indent_unit


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
    ],
)
def test_the_unit_is_the_usual_step_of_the_text(text, unit):
    assert indent_unit(text) == unit
