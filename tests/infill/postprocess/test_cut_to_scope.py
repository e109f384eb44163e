import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.cut_to_scope import cut_to_scope
from intarsia.infill.suggestion import NoSuggestion


@pytest.mark.parametrize(
    ("language_id", "source", "fill", "expected"),
    [
        ("python", "def f():\n    ║\n", "a\n    b\nc", "a\n    b"),
        ("python", "def f():║\n", "\n    a\n\n    b\n\nc", "\n    a\n\n    b\n"),
        ("python", "def f():\n    ║\n", "if a:\n        b\n    c", "if a:\n        b\n    c"),
        ("python", "x = ║\n", "1\ny", "1\ny"),
        ("javascript", "function f() {\n  ║\n}\n", "a();\n}\n\nb();", "a();"),
        ("javascript", "f(() => {║})", " return 1; })", " return 1;"),
        ("go", "\tswitch x {\n\t║\n\t}\n", "case 1:\n\t\tf()\n\t}\n\tg()", "case 1:\n\t\tf()"),
        ("ruby", "def f\n  ║\nend\n", "a\n  b\nend\ndef g", "a\n  b"),
        ("html", "<ul>\n  ║\n</ul>\n", "<li>a</li>\n</ul>\n<p>", "<li>a</li>"),
        ("css", "a {\n  ║\n}\n", "color: red;\n}\nb {", "color: red;"),
    ],
)
def test_a_body_ends_with_its_scope(language_id, source, fill, expected):
    assert cut_to_scope(fill, drawn_hole(source, language_id).context()) == expected


def test_a_body_that_does_not_begin_inside_its_header_is_dropped():
    context = drawn_hole("def f():\n║\n").context()
    assert isinstance(cut_to_scope("def g():\n    pass", context), NoSuggestion)
    assert cut_to_scope("    pass", context) == "    pass"
