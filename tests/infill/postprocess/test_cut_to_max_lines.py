import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.cut_to_max_lines import cut_to_max_lines


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("x = ║\n", "1\ny = 2", "1"),
        ("x = ║\n", "\n1", ""),
        ("x = ║1║\n", "2\n3", "2"),
        ("x = ║\n", "f(\n    1)\ny = 2", "f(\n    1)"),
        ("x = ║\n", "f(\n    1,\n", "f("),
        ("x = [║]\n", "f(\n    1)", "f("),
        ("def f():║\n", "\n" + "    a\n" * 40, "\n" + "\n".join(["    a"] * 32)),
        ("def f():\n    ║\n", "a\n    b", "a\n    b"),
    ],
)
def test_a_fill_has_no_more_lines_than_its_hole_allows(source, fill, expected):
    assert cut_to_max_lines(fill, drawn_hole(source).context()) == expected
