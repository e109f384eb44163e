"""Enter at the end of a line indents as editors do."""

import pytest

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.next_line import end_and_next_line


@pytest.mark.parametrize(
    ("language", "text", "typed"),
    [
        ("python", "x = 1|", "\n"),
        ("python", "def f():|", "\n    "),
        ("python", "def f():\n  if x:|", "\n    "),
        ("python", "def f():\n    x = 1|", "\n    "),
        ("python", "def f():\n    if x:\n        return|", "\n    "),
        ("python", "def f():\n    returned = 1|", "\n    "),
        ("python", "f(|", "\n    "),
        ("python", "def f():\n    x = |1 + 2", "\n    "),
        ("python", "def f():\r\n    x = 1|\r\n", "\r\n    "),
        ("python", "|", "\n"),
        ("python", "    |", "\n    "),
        ("go", "func f() {|", "\n    "),
        ("go", "func f() {\n\treturn 1|\n}\n", "\n\t"),
        ("go", "func f() {\n\tif x {|\n}\n", "\n\t\t"),
        ("ruby", "def f|", "\n    "),
        ("typescript", "const a = [|", "\n    "),
        ("plaintext", "  some words|", "\n  "),
        ("markdown", "A word:|", "\n"),
        ("markdown", "```python\ndef f():|\n```\n", "\n    "),
        ("markdown", "```python|\nx\n```\n", "\n"),
    ],
)
def test_what_enter_inserts(language: str, text: str, typed: str) -> None:
    offset = text.index("|")
    text = text.replace("|", "")
    end, inserted = end_and_next_line(text, offset, language_for_id(language))
    assert inserted == typed
    assert text[end : end + 1] in ("", "\r", "\n")
    assert end >= offset
