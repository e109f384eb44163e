import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.reject_new_errors import reject_new_errors
from intarsia.infill.suggestion import NoSuggestion


@pytest.mark.parametrize(
    ("language_id", "source", "fill"),
    [
        ("python", "x = ║\n", "1"),
        ("python", "║\n", "for a in b:"),
        ("python", "def f():\n    a = 1\n    ║\n", "x = foo("),
        ("python", "def f():\n    a = 1\n    ║\n    b = 2\n", '"""Say so.'),
        ("python", "class A:\n    a = 1\n    ║\n    b = 2\n", "@property"),
        ("python", "x = f(║\n", "1"),
        ("python", "x = (\ny = ║\n", "1"),
        ("java", "class A { void f() {\n    a();\n    ║\n} }\n", "if (x) {"),
        ("java", "class A { void f() {\n    a();\n    ║\n} }\n", "foo(1)"),
        ("javascript", "a();\n║\n", "/**"),
        ("ruby", "a\n║\nb\n", "if x"),
        ("shellscript", "a\n║\nb\n", "for x in y; do"),
        ("c", "int a;\n║\n", "#ifdef X"),
        ("plaintext", "║", "((("),
    ],
)
def test_what_a_line_may_leave_open_is_kept(language_id, source, fill):
    assert reject_new_errors(fill, drawn_hole(source, language_id).context()) == fill


@pytest.mark.parametrize(
    ("language_id", "source", "fill"),
    [
        ("python", "x = ║\n", "1 2"),
        ("python", "x = ║ + 1\n", "(a"),
        ("python", "║\n", "def def"),
        ("json", '{"a": ║}\n', '1, "b" 2'),
        ("go", "func f() {\n\ta()\n\t║\n}\n", "return ) {"),
    ],
)
def test_a_file_must_not_parse_worse(language_id, source, fill):
    result = reject_new_errors(fill, drawn_hole(source, language_id).context())
    assert result == NoSuggestion(reason="the file would parse worse than before")
