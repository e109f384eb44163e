"""Which language a request is in, from what clients happen to send."""

import pytest

from intarsia.cli.api.holes.language import language_of
from intarsia.cli.api.holes.request import Context, OtherFile


@pytest.mark.parametrize(
    ("prefix", "language"),
    [
        ("# language: python\n# indentation: use 4 spaces for a tab\nx = ", "python"),  # minuet
        ("// language: rust\nfn main() {", "rust"),
        ("/* language: c */\nint", "c"),
        ("-- language: lua\nlocal x", "lua"),
        (
            "\n''' Language: Python (python) '''\n''' File uri: file:///x.py (python) '''\nx",
            "python",
        ),
        ("\n/* Language: C++ (cpp) */\nint", "cpp"),
        ("# Path: src/a.py\n# import os\n# src/main.py\nx = ", "python"),  # Continue
        ("// src/cart.ts\n// src/main.rs\nfn", "rust"),
        ("#!/usr/bin/env python3\nx", "python"),
        ("#!/bin/bash\nx", "shellscript"),
        ("#!/usr/bin/env node\nx", "javascript"),
        ("x = 1\n", "plaintext"),
        ("# see notes.txt\n", "plaintext"),
        ("", "plaintext"),
    ],
)
def test_the_text_may_tell_it(prefix: str, language: str):
    assert language_of(Context(prefix=prefix, suffix=""), None).id == language


def test_the_surest_word_counts():
    files = (OtherFile(path="a.go", text="x"), OtherFile(path="b.rs", text="x"))
    files = (*files, OtherFile(path="notes", text="x"))
    context = Context(prefix="# language: ruby\n", suffix="", path="x.py", files=files)
    assert language_of(context, "java").id == "java"
    assert language_of(context, "no such").id == "python"
    assert language_of(Context(prefix="x", suffix="", files=files), None).id == "rust"
