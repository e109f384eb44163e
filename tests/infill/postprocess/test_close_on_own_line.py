import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.close_on_own_line import close_on_own_line


@pytest.mark.parametrize(
    ("source", "fill", "expected"),
    [
        ("  function f() {║}", "\n    a();\n", "\n    a();\n  "),
        ("  function f() {║}", " a(); ", " a(); "),
        ("  function f() {\n    ║}", "a();\n    b();", "a();\n    b();\n  "),
        ("  function f() {\n    ║\n  }", "a();\n    b();", "a();\n    b();"),
        ("  f(() => {║});", "\n    a();", "\n    a();\n  "),
    ],
)
def test_the_bracket_after_a_body_of_several_lines_gets_its_own(source, fill, expected):
    assert close_on_own_line(fill, drawn_hole(source, "javascript").context()) == expected
