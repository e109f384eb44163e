"""The kinds of edits, and which hunks follow from the first."""

import pytest

from intarsia_research.corpus.edits.changed_tokens import changed_tokens
from intarsia_research.corpus.edits.edit_kind import edit_kind
from intarsia_research.corpus.edits.follow import following
from intarsia_research.edits.edit_case import CommitHunk


def hunks_of(*texts: tuple[str, str]) -> list[CommitHunk]:
    return [
        CommitHunk(start=n, end=n + old.count("\n"), old_text=old, new_text=new)
        for n, (old, new) in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("rename", [("x = cost\n", "x = price\n"), ("y = cost + 1\n", "y = price + 1\n")]),
        ("import", [("", "import os\n"), ("x = 1\n", "x = os.sep\n")]),
        ("import", [("", '\t"net/http"\n'), ("x()\n", "http.Get()\n")]),
        ("added", [("", "width = 1\n"), ("", "print(width)\n")]),
        ("added", [("", "width = 1\n"), ("a(b)\n", "c(d, e.f)\n")]),
        ("removed", [("width = 1\n", ""), ("print(width)\n", "")]),
        ("signature", [("def f(a):\n", "def f(a, b):\n"), ("f(1)\n", "f(1, b=2)\n")]),
        ("signature", [("func f(a int) {\n", "func f(a, b int) {\n"), ("f(1)\n", "f(1, 2)\n")]),
        ("type", [("let x: A;\n", "let x: A[];\n"), ("y: B\n", "y: B[]\n")]),
        ("same", [("f(a)\n", "f(a, 1)\n"), ("g(b)\n", "g(b, 1)\n")]),
        ("other", [("f(a)\n", "f(a, 1)\n"), ("g(b)\n", "g(2 + b)\n")]),
    ],
)
def test_the_first_rule_that_holds_names_the_kind(kind: str, texts: list[tuple[str, str]]) -> None:
    hunks = hunks_of(*texts)
    assert edit_kind(hunks, [changed_tokens(hunk) for hunk in hunks]) == kind


def test_hunks_follow_over_names_and_substitutions_and_over_others() -> None:
    hunks = hunks_of(
        ("", "width = 1\n"),
        ("draw(a)\n", "draw(a, width, depth)\n"),
        ("", "use(depth)\n"),
        ("other = 1\n", "other = 2\n"),
    )
    assert following([changed_tokens(hunk) for hunk in hunks]) == {0, 1, 2}


def test_words_of_the_language_link_nothing() -> None:
    hunks = hunks_of(("", "return None\n"), ("x()\n", "return None or x()\n"))
    assert following([changed_tokens(hunk) for hunk in hunks]) == {0}
