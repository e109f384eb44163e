"""Comments, documentation and strings are told from code, also while they are being written."""

import pytest

from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.parse import parse
from intarsia.infill.syntax.prose import prose_at

CODE = [
    ("python", "x = |\n"),
    ("python", 'x = "a" + |\n'),
    ("python", "x = 1  # done\n|"),
    ("python", "# done\n|\n"),
    ("python", 'f"{a|}"\n'),
    ("python", 'f"{|}"\n'),
    ("python", "x = '\"' + |\n"),
    ("javascript", "let a = `${b|}`;\n"),
    ("javascript", "/* done */ |\n"),
    ("rust", "fn first<'a|>(x: &'a str) {}\n"),
    ("json", '{"name": "|"}'),
    ("yaml", 'name: "|"\n'),
    ("html", '<a href="|"></a>\n'),
    ("plaintext", "# any text |\n"),
]
COMMENTS = [
    ("python", "x = 1  # a remark|\n"),
    ("python", "#|\n"),
    ("python", "# |"),
    ("python", 'def f():\n    """Return |"""\n'),
    ("python", 'def f():\n    """Return\n    the |\n    """\n'),
    ("javascript", "/* a |remark */\nf();\n"),
    ("javascript", "/**\n * Returns |\n */\nfunction f() {}\n"),
    ("go", "// Add returns|\nfunc Add() {}\n"),
    ("rust", "/// Returns\n/// |\nfn f() {}\n"),
    ("lua", "-- a remark|\nx = 1\n"),
]
DOCUMENTATION = [
    ("python", 'def f():\n    """|\n    return 1\n'),
    ("python", 'def f():\n    """|"""\n    return 1\n'),
    ("python", "class A:\n    r'''|'''\n"),
    ("javascript", "/** |\n */\nfunction f() {}\n"),
    ("javascript", "/** |\nfunction f() {}\n"),
    ("java", "class A {\n    /**\n     * |\n     */\n    void f() {}\n}\n"),
    ("rust", "/// |\nfn f() {}\n"),
    ("lua", "--- |\nfunction f() end\n"),
]
STRINGS = [
    ("python", 'x = "|"\n'),
    ("python", 'x = "a|b"\n'),
    ("python", 'print("hel|\ny = 2\n'),
    ("python", "x = 'don|\n"),
    ("python", 'x = f"a {b} c|"\n'),
    ("javascript", 'let a = "fo|\nlet b = 1\n'),
    ("typescript", "import a from './|'\n"),
    ("go", 'x := "a|"\n'),
    ("rust", 'let a = "b|";\n'),
]


def _prose(language: str, marked: str) -> str | None:
    offset = marked.index("|")
    text = marked[:offset] + marked[offset + 1 :]
    return prose_at(parse(text, language_for_id(language)), offset)


@pytest.mark.parametrize(("language", "marked"), CODE)
def test_code_is_no_prose(language: str, marked: str) -> None:
    assert _prose(language, marked) is None


@pytest.mark.parametrize(("language", "marked"), COMMENTS)
def test_a_comment_is_known_and_a_docstring_with_words_is_one(language: str, marked: str) -> None:
    assert _prose(language, marked) == "comment"


@pytest.mark.parametrize(("language", "marked"), DOCUMENTATION)
def test_documentation_without_a_word_has_just_begun(language: str, marked: str) -> None:
    assert _prose(language, marked) == "documentation"


@pytest.mark.parametrize(("language", "marked"), STRINGS)
def test_a_string_is_known_before_it_is_closed_too(language: str, marked: str) -> None:
    assert _prose(language, marked) == "string"
