"""Code in fences and scripts: which language a place has, and what of the text is its code."""

import time
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest
from code_like_text import texts
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.languages import PLAIN_TEXT, language_for_id
from intarsia.infill.syntax.embedded_code import (
    code_at,
    code_of_language,
    find_fences,
    find_scripts,
    language_of_info,
)

MARKDOWN = language_for_id("markdown")
DRAWN = tomllib.loads(Path(__file__).with_name("embedded_code.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("marked", "language", "code"),
    [(*case, None)[:3] for case in DRAWN["fences"]],
)
def test_the_code_at_a_place(marked, language, code):
    offset, text = marked.index("║"), marked.replace("║", "")
    found = code_at(text, offset, offset, MARKDOWN)
    assert found.language.id == language
    assert len(found.text) == len(text)
    if code is None:
        assert found.text == text
    else:
        lines = found.text.replace("\r\n", "\n").replace("\r", "\n")
        assert lines.strip() == code
        assert found.text[max(0, offset - 1) : offset] in (text[max(0, offset - 1) : offset], " ")


@pytest.mark.parametrize(
    ("document", "marked", "language", "code"),
    [(*case, None)[:4] for case in DRAWN["scripts"]],
)
def test_the_script_at_a_place(document, marked, language, code):
    offset, text = marked.index("║"), marked.replace("║", "")
    found = code_at(text, offset, offset, language_for_id(document))
    assert found.language.id == language
    assert found.text.split() == (text if code is None else code).split()
    assert [len(line) for line in found.text.splitlines()] == [len(it) for it in text.splitlines()]
    assert found.closing_line == (None if code is None else found.closing_line)


@given(texts, st.integers(min_value=0))
@settings(max_examples=200)
def test_any_text_has_scripts_in_order(text: str, place: int) -> None:
    text = text.replace("(", "<script>").replace(")", "</script>").replace("[", "<!--")
    scripts = find_scripts(text)
    for before, after in pairwise(scripts):
        assert before.end <= after.start
    assert all(0 <= it.start <= it.end <= len(text) for it in scripts)
    offset = place % (len(text) + 1)
    assert len(code_at(text, offset, offset, language_for_id("html")).text) == len(text)


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("python", "python"),
        ('Python title="a.py"', "python"),
        ("python3", "python"),
        ("py", "python"),
        ("rust,no_run", "rust"),
        ("{.python .numberLines}", "python"),
        ("{python}", "python"),
        ("python:src/a.py", "python"),
        ("c++", "cpp"),
        ("C#", "csharp"),
        ("yml", "yaml"),
        ("golang", "go"),
        ("shell", "shellscript"),
        ("tsx", "typescriptreact"),
        ("mermaid", "plaintext"),
        ("", "plaintext"),
        ("{}", "plaintext"),
    ],
)
def test_the_language_that_an_info_string_names(info, language):
    assert language_of_info(info).id == language


def test_a_quoted_fence_fills_no_blocks_and_no_selection_of_several_lines():
    text = "> ```python\n> def f():\n> x\n> ```\n"
    offset = text.index("f():") + 4
    assert code_at(text, offset, offset, MARKDOWN).language.block_style == "none"
    assert code_at(text, offset, text.index("x"), MARKDOWN).language is MARKDOWN


def test_a_quoted_fence_goes_on_after_a_line_that_ends_as_in_windows():
    text = "> ```python\r\n> a = 1\r\n> b = \r\n> ```\r\n\r\n```js\r\nc\r\n```\r\n"
    quoted, plain = find_fences(text)
    assert text[quoted.start : quoted.end] == "> a = 1\r\n> b = \r\n"
    assert text[plain.start : plain.end] == "c\r\n"


def test_a_selection_across_a_fence_follows_the_rules_of_the_document():
    text = "Text\n```python\nx = 1\n```\nmore"
    start, end = text.index("x ="), text.index("1") + 2
    assert code_at(text, start, end, MARKDOWN).language.id == "python"
    assert code_at(text, start, end + 1, MARKDOWN).language is MARKDOWN
    assert code_at(text, 0, end, MARKDOWN).language is MARKDOWN


def test_other_languages_are_left_as_they_are():
    python = language_for_id("python")
    assert code_at("'''\n```js\nx\n```\n'''", 10, 10, python).language is python
    assert code_at("```js\nx\n```", 6, 6, PLAIN_TEXT).language is PLAIN_TEXT


def test_all_blocks_of_one_language_are_one_program():
    text = "A\n```py\nimport a\n```\nB\n```js\nb\n```\n```python\na.\n```\n"
    code = code_of_language(text, text.index("a.") + 2, MARKDOWN)
    assert code.language.id == "python"
    assert code.text.split() == ["import", "a", "a."]
    assert len(code.text) == len(text)
    assert code_of_language(text, 0, MARKDOWN).text == text


def test_code_of_a_document_has_no_marks_of_quotes():
    quoted = "> ```python\n> import b\n> if b:\n>     b.\n> ```\n"
    text = f"```python\nimport a\n>>> a\n```\n\n{quoted}"
    for offset in (text.index("import a"), text.index("b.\n")):
        code = code_of_language(text, offset, MARKDOWN).text
        assert code.split("\n")[1:3] == ["import a", ">>> a"]
        assert code.split("\n")[6:9] == ["  import b", "  if b:", "      b."]
        assert len(code) == len(text)


CONFLICTS = (
    "a\n<<<<<<< HEAD\nb\n||||||| base\nc\n=======\nd\n>>>>>>> topic\n"
    "e\n<<<<<<< HEAD\nf\n=======\n>>>>>>> topic\ng\n"
)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("a", "abefg"),
        ("b", "abefg"),
        ("c", "acefg"),
        ("d", "adefg"),
        ("g", "abefg"),
    ],
)
def test_code_has_one_side_of_each_conflict(place, code, line_end):
    text = CONFLICTS.replace("\n", line_end)
    at = text.index(place + line_end)
    found = code_at(text, at, at, language_for_id("go"))
    assert "".join(found.text.split()) == code
    assert found.text.count(line_end) == CONFLICTS.count("\n")
    assert found.outer is not None


@pytest.mark.parametrize(
    "text", [CONFLICTS[2:10], CONFLICTS[2:25], "<<<<<<< a\nx\n=======\ny\n", "=======\n>>>>>>> b\n"]
)
def test_a_part_of_a_conflict_is_left_as_it_is(text):
    code = code_at(text, len(text), len(text), language_for_id("go"))
    assert (code.text, code.outer) == (text, None)


PARTS = ["```", "````", "~~~", "python", " js", "\n", "\r\n", "\r", "> ", "- ", "1. ", "    ", "\t"]
PARTS += ["<<<<<<< a\n", "||||||| b\n", "=======\n", ">>>>>>> c\n"]
documents = st.lists(st.sampled_from(PARTS), max_size=30).map("".join) | texts


@settings(max_examples=500)
@given(documents, st.data())
def test_code_is_a_part_of_the_text_in_its_place(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    code = code_at(text, start, end, MARKDOWN)
    assert len(code.text) == len(text)
    for shown, original in zip(code.text, text, strict=True):
        assert shown == original or (shown == " " and original not in "\r\n")
    quoted = any(fence.is_quoted for fence in find_fences(text))
    if not quoted:
        assert code.text[start:end] == text[start:end]
    fences = find_fences(text)
    assert all(one.start <= one.end for one in fences)
    assert all(one.end <= other.start for one, other in pairwise(fences))


@pytest.mark.parametrize(
    "piece", ["> ", "- ", "1. ", "```", "```\n", "> ```a\n", "> ```a\n\n", "```a\n~~~b\n", "> \n"]
)
def test_no_text_takes_long(piece):
    text = piece * (200_000 // len(piece))
    begun = time.thread_time()
    find_fences(text)
    assert time.thread_time() - begun < 2.0


@pytest.mark.parametrize("piece", ["<<<<<<< a\n", "=======\n", "<<<<<<< a\n=======\n>>>>>>> b\n"])
def test_no_conflict_takes_long(piece):
    text = "<<<<<<< a\n" + piece * (200_000 // len(piece))
    begun = time.thread_time()
    code_at(text, len(text), len(text), PLAIN_TEXT)
    assert time.thread_time() - begun < 2.0
