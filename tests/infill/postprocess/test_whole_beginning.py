"""Where a fill may be cut. Drawn: ``║`` is the cursor."""

import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.whole_beginning import is_whole_beginning


@pytest.mark.parametrize(
    ("language_id", "source", "beginning"),
    [
        ("python", "x = ║\n", "f(a)"),
        ("python", "def f():\n    ║\n", "a = 1\n    b = 2"),
        ("python", "x = f(║\n", "a"),
        ("javascript", "const x = ║\n", "a.b"),
        ("javascript", "function f() {\n  ║\n}\n", "a();\n  b();"),
        ("plaintext", "║", "((("),
    ],
)
def test_whole_code_may_end_there(language_id: str, source: str, beginning: str) -> None:
    assert is_whole_beginning(beginning, drawn_hole(source, language_id).context())


@pytest.mark.parametrize(
    ("language_id", "source", "beginning"),
    [
        ("python", "x = ║\n", "f(a"),
        ("python", "x = ║\n", "a +"),
        ("python", "x = ║\n", '"a'),
        ("python", "def f():\n    ║\n", "for a in b:"),
        ("javascript", "const x = ║\n", "{ a: 1,"),
        (
            "javascript",
            "function f() {║}\n",
            "\n  a();",
        ),  # the bracket belongs on a line of its own
    ],
)
def test_a_part_of_a_construct_may_not(language_id: str, source: str, beginning: str) -> None:
    assert not is_whole_beginning(beginning, drawn_hole(source, language_id).context())
