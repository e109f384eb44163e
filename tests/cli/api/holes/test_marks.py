"""Prompts with special marks, as clients write them for each model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intarsia.cli.api.holes.marks import read_prompt
from intarsia.cli.api.holes.request import Context, OtherFile

PREFIX, SUFFIX = "def add(a, b):\n    return ", "\n\nprint(add(1, 2))\n"


@pytest.mark.parametrize(
    "prompt",
    [
        "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
        "<|fim_suffix|>{suffix}<|fim_prefix|>{prefix}<|fim_middle|>",
        "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
        "<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>",
        "<PRE> {prefix} <SUF>{suffix} <MID>",
        "<|code_prefix|>{prefix}<|code_suffix|>{suffix}<|code_middle|>",
        "<|code_suffix|>{suffix}<|code_prefix|>{prefix}<|code_middle|>",
        "<[fim-prefix]>{prefix}<[fim-suffix]>{suffix}<[fim-middle]>",
        "[SUFFIX]{suffix}[PREFIX]{prefix}",
    ],
)
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
