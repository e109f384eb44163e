"""Where the documentation of a function at a cursor goes, and why it may not."""

import pytest

from intarsia.infill.holes.doc_comment import undocumented
from intarsia.infill.holes.hole import MarkedHole
from intarsia.infill.languages import language_for_id


def place(drawing: str, language: str) -> str:
    """Return the text with the place as ``◌``, or the reason; ``‸`` is the cursor."""
    cursor, text = drawing.index("‸"), drawing.replace("‸", "")
    found = undocumented(text, cursor, cursor, language_for_id(language))
    if not isinstance(found, MarkedHole):
        return found.reason
    return f"{text[: found.start]}{found.before}◌{found.after}{text[found.end :]}"


@pytest.mark.parametrize(
    ("language", "drawing", "expected"),
    [
        ("python", "def f(a):\n    # why\n    retur‸n a\n", None),
        ("python", "class A:\r\n\tdef f(a):\r\n\t\treturn a‸\r\n", '\t\t"""◌"""\r\n\t\treturn a'),
        (
            "python",
            "def f():\n    def g():\n        pass\n    re‸turn g\n",
            '\n    """◌"""\n    def g',
        ),
        ("python", "@x\ndef f(‸a):\n    pass\n", '(a):\n    """◌"""\n    pass'),
        ("go", "package a\n\nfunc Add(a int) int {\n\treturn ‸a\n}\n", "\n// Add ◌\nfunc Add"),
        ("rust", "#[inline]\nfn a() -> u8 {\n    ‸1\n}\n", "/// ◌\n#[inline]\nfn"),
        (
            "java",
            "class A {\n  @Override\n  int a() {\n    return ‸1;\n  }\n}\n",
            "  /** ◌ */\n  @Ov",
        ),
        ("typescript", "export function a(b: B) {\n  return ‸b;\n}\n", "/** ◌ */\nexport function"),
        ("c", "\n\nint add(int a) {\n  return ‸a;\n}\n", "\n\n/** ◌ */\nint add"),
        (
            "csharp",
            "class A {\n  int B() {\n    return ‸1;\n  }\n}\n",
            "  /// <summary>◌</summary>\n",
        ),
    ],
)
def test_it_is_where_the_language_has_it(language: str, drawing: str, expected: str | None) -> None:
    assert (expected or '    """◌"""\n    return a') in place(drawing, language)


@pytest.mark.parametrize(
    ("language", "drawing", "reason"),
    [
        ("python", "def f():\n    r'''Kn‸own.'''\n", "has a docstring already"),
        ("python", "def f(): retur‸n 1\n", "break the line"),
        ("python", "x = 1‸\n\n\ndef f():\n    pass\n", "no function here"),
        ("python", "‸", "no function here"),
        ("rust", "/// Known.\nfn a() -> u8 {\n    ‸1\n}\n", "comment above"),
        ("java", "class A {\n  /** Known. */\n  int a() { return ‸1; }\n}\n", "comment above"),
        ("markdown", "# f‸\n", "not known here"),
        ("plaintext", "f‸\n", "not known here"),
    ],
)
def test_where_it_may_not_be_written(language: str, drawing: str, reason: str) -> None:
    assert reason in place(drawing, language)
