import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.drop_leading_blank_lines import drop_leading_blank_lines


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("def f():║\n", "\n\n\n    pass", "\n    pass"),
        ("def f():║\n", "\n    pass", "\n    pass"),
        ("def f():\n    ║\n", "\n    pass", "    pass"),
        ("x = 1\n║║\n", "\n  \ny = 2", "y = 2"),
        ("x = 1║║\n", "\n\ny = 2", "\n\ny = 2"),
        ("x = ║\n", "\n1", "\n1"),
        ("x = 1\n║║\n", "y = 2", "y = 2"),
    ],
)
def test_a_body_starts_at_the_cursor(source, fill, expected):
    assert drop_leading_blank_lines(fill, drawn_hole(source).context()) == expected
