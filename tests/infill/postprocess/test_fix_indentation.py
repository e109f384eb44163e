import pytest
from drawn_hole import drawn_hole

from intarsia.infill.postprocess.fix_indentation import fix_indentation


@pytest.mark.parametrize(
    ("language_id", "source", "fill", "expected"),
    [
        ("python", "def f():\n    ║\n", "    a\n    b", "a\n    b"),
        ("python", "def f():\n║\n", "    a\n    b", "    a\n    b"),
        ("python", "    def f():\n    ║\n", "    a", "    a"),
        ("python", "    a = 1\n    ║\n", "    b = 2", "b = 2"),
        ("python", "    if a:\n    ║\n    c\n", "        b", "    b"),
        ("python", "x = ║\n", "  1", "  1"),
        (
            "go",
            "func f() {\n\tx()\n\t║║\n}\n",
            "if a {\n        b()\n    }",
            "if a {\n\t\tb()\n\t}",
        ),
        (
            "c",
            "int f() {\n\t║\n}\n",
            "if (a) {\n    return 1;\n  }",
            "if (a) {\n\t\treturn 1;\n\t}",
        ),
        (
            "java",
            "class A {\n  ║\n}\n",
            "int f() {\n\t\treturn 1;\n\t}",
            "int f() {\n    return 1;\n  }",
        ),
        ("plaintext", "    a\n    ║\n", "    b\n\tc", "    b\n\tc"),
    ],
)
def test_a_fill_is_indented_as_its_file(language_id, source, fill, expected):
    assert fix_indentation(fill, drawn_hole(source, language_id).context()) == expected
