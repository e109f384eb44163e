import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.keep_line_end import keep_line_end


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("║a = 1\n║b = 2\n", "c = 3", "c = 3\n"),
        ("║a = 1\n║\nb = 2\n", "c = 3", "c = 3\n"),
        ("    ║a = 1\n    ║b = 2\n", "c = 3", "c = 3\n    "),
        ("║║b(2)\n", "a(1)", "a(1)\n"),
        ("    ║║b(2)\n", "a(1)", "a(1)\n    "),
        ("║║b(2)\n", "x = ", "x = "),
        ("║║b(2)\n", "x = 1\ny = 2", "x = 1\ny = 2\n"),
        ("║║.b(2)\n", "x = 1\ny = a", "x = 1\ny = a"),
        ("x = ║║ + 1\n", "a", "a"),
        ("║║\nb = 2\n", "a = 1", "a = 1"),
        ("x = ║1║\n", "2", "2"),
    ],
)
def test_a_fill_does_not_run_into_the_line_after_it(source, fill, expected):
    assert keep_line_end(fill, drawn_hole(source).context()) == expected
