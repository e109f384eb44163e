import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.cut_repetition import cut_repetition


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        ("a = foo()\nb = bar()\nb = bar()\nb = bar()\nb = bar()", "a = foo()\nb = bar()"),
        ("if x:\n    foo()\n" * 3, "if x:\n    foo()"),
        ("foo()\nfoo()", "foo()\nfoo()"),
        ("0,\n0,\n0,\n0,", "0,\n0,\n0,\n0,"),
        ("}\n}\n}\n}", "}\n}\n}\n}"),
        ("x = name, name, name, name, name, na", "x = name,"),
        ("int, int, int", "int, int, int"),
        ("0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0", "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0"),
        ("# ----------------------------------", "# ----------------------------------"),
        ("'a,b,c'.split(',')", "'a,b,c'.split(',')"),
    ],
)
def test_a_loop_is_cut_after_its_first_round(fill, expected):
    assert cut_repetition(fill, drawn_hole("║").context()).rstrip() == expected
