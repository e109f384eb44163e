"""A request's hole: marks in prompts, language, other files, bounds of a long text."""

import random
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real_files import REAL_FILES

from intarsia.cli.api.holes.language import guess_language, language_of
from intarsia.cli.api.holes.marks import read_prompt
from intarsia.cli.api.holes.request import (
    CHARS_PER_TOKEN,
    NEAR_CHARS,
    Context,
    OtherFile,
    near_hole,
    to_project,
)
from intarsia.infill.languages import PLAIN_TEXT, language_for_id, language_for_path

DRAWN = tomllib.loads(Path(__file__).with_name("holes.toml").read_text(encoding="utf-8"))

PREFIX, SUFFIX = "def add(a, b):\n    return ", "\n\nprint(add(1, 2))\n"


@pytest.mark.parametrize("prompt", DRAWN["format"]["cases"])
@given(prefix=st.text(alphabet="ab \n<|>{}é\U0001f600"), suffix=st.text(alphabet="ab \n<|>[]"))
def test_every_format_gives_both_sides(prompt: str, prefix: str, suffix: str):
    found = read_prompt(prompt.format(prefix=prefix, suffix=suffix))
    assert (found.prefix, found.suffix, found.files) == (prefix, suffix, ())


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        PREFIX,
        "<|fim_prefix|>only the first",
        "<|fim_prefix|>no<|fim_suffix|>end",
        "text<|fim_middle|>",
        "<|fim_prefix|>no suffix<|fim_middle|>",
        "MARKS = ('[SUFFIX]', '[PREFIX]')\n",
        "[PREFIX]alone",
        "<|file_sep|>",
    ],
)
def test_any_other_prompt_is_all_prefix(prompt: str):
    assert read_prompt(prompt).suffix == ""
    assert read_prompt(prompt).prefix == prompt.removeprefix("<|file_sep|>")


def test_with_a_suffix_marks_are_text():
    prompt = "<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>"
    assert read_prompt(prompt, SUFFIX) == Context(prefix=prompt, suffix=SUFFIX)


def test_other_files_come_before_the_marks():
    found = read_prompt(
        "<|repo_name|>shop\n<|file_sep|>src/cart.py\nclass Cart: ...\n"
        f"<|file_sep|>src/main.py\n<|fim_prefix|>{PREFIX}<|fim_suffix|>{SUFFIX}<|fim_middle|>"
    )
    assert found == Context(
        prefix=PREFIX,
        suffix=SUFFIX,
        path="src/main.py",
        repository="shop",
        files=(OtherFile(path="src/cart.py", text="class Cart: ...\n"),),
    )


def test_continue_s_separator_is_read_in_a_prompt_with_a_suffix():
    """Its Ollama provider sends the prefix as it was compiled for the marks."""
    found = read_prompt(
        "<|repo_name|>shop\n<|file_sep|>cart.py\nclass Cart: ...\n"
        f"<|file_sep|>main.py<|system_separator_istruction_repository_level|>{PREFIX}",
        SUFFIX,
    )
    assert (found.prefix, found.suffix, found.path) == (PREFIX, SUFFIX, "main.py")
    assert found.files == (OtherFile(path="cart.py", text="class Cart: ...\n"),)


def test_twinny_s_repository_prompt_ends_with_the_file():
    found = read_prompt(
        "<|repo_name|>shop\n<|file_sep|>/home/me/cart.py\nclass Cart: ...\n\n"
        f"<|file_sep|>/home/me/main.py\n{PREFIX}"
    )
    assert (found.prefix, found.suffix, found.path) == (PREFIX, "", "/home/me/main.py")
    assert [file.path for file in found.files] == ["/home/me/cart.py"]


def test_twinny_describes_the_file_in_comments():
    found = read_prompt(
        "<|file_sep|>'''// File: /home/me/cart.py\n          // Content: \n class Cart: ...'''\n\n"
        "<|file_sep|>\n''' Language: Python (python) '''\n"
        "''' File uri: file:///home/me/main.py (python) '''\n"
        f"<|fim_prefix|>{PREFIX}<|fim_suffix|>{SUFFIX}<|fim_middle|>"
    )
    assert (found.prefix, found.suffix) == (PREFIX, SUFFIX)
    assert found.path == "file:///home/me/main.py"
    assert [("class Cart" in file.text, file.path) for file in found.files] == [(True, "")]


def test_text_before_the_marks_is_another_file():
    """llama.vscode puts a heading before its template."""
    found = read_prompt(
        f"Context:\n\nclass Cart: ...<|fim_prefix|>{PREFIX}<|fim_suffix|>{SUFFIX}<|fim_middle|>"
    )
    assert (found.prefix, found.suffix) == (PREFIX, SUFFIX)
    assert found.files == (OtherFile(path="", text="Context:\n\nclass Cart: ..."),)


@given(st.text(alphabet="a\n ") | st.text(), st.none() | st.text())
def test_no_prompt_fails(text: str, suffix: str | None):
    for prompt in (text, f"<|repo_name|>{text}", f"<|file_sep|>{text}<|file_sep|>{text}"):
        for end in ("", f"<|fim_prefix|>{text}<|fim_suffix|>{text}<|fim_middle|>"):
            assert isinstance(read_prompt(prompt + end, suffix), Context)


SHOWN_BEFORE, SHOWN_AFTER = 1200, 600
SAME = {"c": "cpp", "typescript": "javascript"}  # the one's grammar reads most of the other


def test_real_code_is_recognised_or_not_known_and_rarely_taken_for_another():
    rng, told = random.Random(0), Counter[str]()
    for path, text in REAL_FILES.items():
        language = language_for_path(path.name).id
        if language in ("plaintext", "json", "markdown"):
            continue
        for _ in range(4):
            cursor = rng.randrange(len(text))
            before, after = text[:cursor][-SHOWN_BEFORE:], text[cursor:][:SHOWN_AFTER]
            guess = guess_language(before, after).id
            if guess == "plaintext":
                told["unknown"] += 1
            else:
                is_right = SAME.get(guess, guess) == SAME.get(language, language)
                told["right" if is_right else "wrong"] += 1
    assert told.total() > 300
    assert told["right"] / told.total() > 0.85
    assert told["wrong"] / told.total() < 0.03


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "Dear reader,\n\nthis is a letter.\nIt has lines.\n\nYours\n",
        "def f():\n",  # one line is no evidence
        "a: 1\nb:\n  - c\n  - d\n",
        "x" * 100_000,
    ],
)
def test_what_tells_nothing_is_plain_text(text: str):
    assert guess_language(text, "").id == "plaintext"


def test_typing_in_a_line_does_not_change_it():
    prefix = "import os\n\n\ndef f(a):\n    if a:\n        return os.sep\n    "
    for typed in ("", "fn ", "let x = ", "end"):
        assert guess_language(prefix + typed, "\n\n").id == "python"


@pytest.mark.parametrize(("prefix", "language"), DRAWN["language"]["cases"])
def test_the_text_may_tell_it(prefix: str, language: str):
    assert language_of(Context(prefix=prefix, suffix=""), None).id == language


def test_the_surest_word_counts():
    files = (OtherFile(path="a.go", text="x"), OtherFile(path="b.rs", text="x"))
    files = (*files, OtherFile(path="notes", text="x"))
    context = Context(prefix="# language: ruby\n", suffix="", path="x.py", files=files)
    assert language_of(context, "java").id == "java"
    assert language_of(context, "no such").id == "python"
    assert language_of(Context(prefix="x", suffix="", files=files), None).id == "rust"


def paths(*files: OtherFile, budget: int = 1000) -> list[str]:
    project = to_project(Context(prefix="", suffix="", files=files), PLAIN_TEXT, budget)
    return [] if project is None else [chunk.path for chunk in project.chunks]


def test_the_end_of_a_path_is_shown_of_whatever_system():
    named = (
        "/home/me/work/shop/src/cart.py",
        "C:\\Users\\me\\shop\\src\\cart.py",
        "file:///home/me/shop/src/cart.py",
        "cart.py",
        "",
    )
    assert paths(*(OtherFile(path=path, text="x") for path in named)) == [
        "shop/src/cart.py",
        "shop/src/cart.py",
        "shop/src/cart.py",
        "cart.py",
        "untitled",
    ]


def test_the_newest_files_are_kept_and_their_order():
    files = [OtherFile(path=f"{name}.py", text="x" * 30 * CHARS_PER_TOKEN) for name in "abcd"]
    assert paths(*files, budget=60) == ["c.py", "d.py"]
    assert paths(*files, budget=10) == []


def test_a_file_that_fits_in_part_gives_its_first_lines():
    lines = "".join(f"line {number}\n" for number in range(100))
    context = Context(
        prefix="", suffix="", files=(OtherFile(path="a.py", text=lines),), path="b.py"
    )
    project = to_project(context, PLAIN_TEXT, 10)
    assert (project.path, project.repository) == ("b.py", "untitled")
    assert project.chunks[0].text == "line 0\nline 1\nline 2\nline 3\n"


def test_a_file_without_a_name_is_named_after_its_language():
    context = Context(prefix="", suffix="", files=(OtherFile(path="a.rs", text="x"),))
    for language, path in ((language_for_id("rust"), "untitled.rs"), (PLAIN_TEXT, "untitled")):
        project = to_project(context, language, 1000)
        assert project.path == path


def test_secrets_are_left_out_under_whatever_name(tmp_path: Path):
    link = tmp_path / "notes.py"
    link.symlink_to(tmp_path / ".env")
    named = (".env", "C:\\work\\keys\\a.py", "file:///home/me/.netrc", str(link), link.as_uri())
    files = [OtherFile(path=path, text="TOKEN=hunter2\n") for path in named]
    files.append(OtherFile(path="new.json", text='{"password": "hunter2"}'))
    assert paths(*files, OtherFile(path="credentials.py", text="x")) == ["credentials.py"]


@given(st.integers(0, 3 * NEAR_CHARS), st.integers(1, NEAR_CHARS))
def test_a_long_text_keeps_whole_lines_near_the_hole(num_chars: int, line_chars: int):
    text = (("x" * (line_chars - 1) + "\n") * (num_chars // line_chars + 1))[:num_chars]
    near = near_hole(Context(prefix=text, suffix=text))
    assert text.endswith(near.prefix) and text.startswith(near.suffix)
    assert len(near.prefix) <= NEAR_CHARS >= len(near.suffix)
    if num_chars <= NEAR_CHARS:
        assert near.prefix == near.suffix == text
    else:
        assert text[: -len(near.prefix) or None].endswith("\n")
        assert near.suffix.endswith("\n")


def test_a_long_line_is_cut():
    near = near_hole(Context(prefix="a" * 2 * NEAR_CHARS, suffix="b" * 2 * NEAR_CHARS))
    assert (near.prefix, near.suffix) == ("a" * NEAR_CHARS, "b" * NEAR_CHARS)
