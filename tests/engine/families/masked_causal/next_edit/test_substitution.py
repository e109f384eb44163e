"""What an edit replaced in its lines is replaced in another line, and nothing else."""

import pytest

from intarsia.engine.families.masked_causal.next_edit.example import substituted
from intarsia.engine.ipc.messages import EditExample


@pytest.mark.parametrize(
    ("before", "after", "line", "expected"),
    [
        ("a = old(1)\n", "a = new(1)\n", "b = old(x, old)\n", "b = new(x, new)\n"),
        ("a = old(1)\n", "a = new(1)\n", "b = older(x)\n", None),
        ("def f(a):\n", "def f(a) -> None:\n", "def g(b, c):\n", "def g(b, c) -> None:\n"),
        ("def f(a):\n", "def f(a) -> None:\n", "def g(b) -> None:\n", None),
        ("x = y  # type: ignore\n", "x = y\n", "p = q  # type: ignore\n", "p = q\n"),
        ("u = o.url as URL;\n", "u = o.url!;\n", "v = p.url as URL;\n", "v = p.url!;\n"),
        ('f(["a", "b"])\n', 'f(("a", "b"))\n', '"c": ["d"],\n', '"c": ("d"),\n'),
        ("r = get(a)\n", "r = await get(a)\n", "r = get(b)\n", "r = await get(b)\n"),
        ("int *p\n", "int p\n", "int *p, *q\n", "int p, *q\n"),
        (
            "for (j = 0; j < 128; j++) {\n",
            "int limit = 128;\nfor (j = 0; j < limit; j++) {\n",
            "for (k = 0; k < 128; k++) {\n",
            "for (k = 0; k < limit; k++) {\n",
        ),
        ("a\nb\n", "a\nx\nb\n", "a\n", None),
        ("a\nb\n", "", "a\n", None),
        ("", "a\n", "b\n", None),
        ("a(1)\n", "b(1)\n", "c(1)\n", None),
        ("é = 1\n", "è = 1\n", "f(é)\n", "f(è)\n"),
        ("a = 1\n", "a\\1 = 1\n", "a = 2\n", "a\\1 = 2\n"),
    ],
)
def test_replacements_of_the_edit_are_repeated(
    before: str, after: str, line: str, expected: str | None
) -> None:
    found = substituted(line, EditExample(before=before, after=after))
    assert found[:1] == ([] if expected is None else [expected])


def test_several_replacements_are_also_made_one_by_one() -> None:
    edit = EditExample(before="from parser import Old\n", after="from shell import New\n")
    assert substituted("parser = Old()\n", edit) == [
        "shell = New()\n",
        "shell = Old()\n",
        "parser = New()\n",
    ]
    assert substituted("x = Old()\n", edit) == ["x = New()\n"]
