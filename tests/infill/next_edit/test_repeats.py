"""Where an edit can be repeated as it is: the same words beside the change, or the same lines."""

import pytest

from intarsia.engine.ipc.messages import EditExample
from intarsia.infill.next_edit.repeats import repeats


@pytest.mark.parametrize(
    ("before", "after", "lines", "expected"),
    [
        pytest.param(
            "    left: 'red',\n",
            '    left: "red",\n',
            ["\tright: 'red',\n", "    left: 'dark blue',\n", "    up: red,\n"],
            {0: '\tright: "red",\n', 1: '    left: "dark blue",\n'},
            id="a quote style, whatever is in the quotes",
        ),
        pytest.param(
            "    a = fetch(url, 30)\n",
            "    a = fetch(url, timeout=30)\n",
            ["b = fetch(url, 30)\n", "b = fetch(30)\n", "b = other(url, 31)\n"],
            {0: "b = fetch(url, timeout=30)\n"},
            id="a name before an argument, with the same tokens on both sides",
        ),
        pytest.param(
            "fn a(x: &Old, y: &Old) -> B {\n",
            "fn a(x: &New, y: &Old) -> B {\n",
            ["fn b(x: &Old, y: u8) {\n", "fn b(x : &Old, y: &Old) -> B {\n"],
            {0: "fn b(x: &New, y: u8) {\n", 1: "fn b(x : &New, y: &Old) -> B {\n"},
            id="only in the same company",
        ),
        pytest.param(
            "x.a(1).old(2).b(3)\n",
            "x.a(1).b(3)\n",
            ["  y.a(1).old(2).b(3);\n"],
            {0: "  y.a(1).b(3);\n"},
            id="a call that goes",
        ),
        pytest.param(
            "f(a, old, b) + f(a, old, b)\n",
            "f(a, new, b) + f(a, new, b)\n",
            ["f(a, old, b)\n"],
            {},
            id="what is between two changes belongs to them",
        ),
        pytest.param(
            "f(a, old, b)\n",
            "f(a, new, b)\n",
            ["g(a, old, b) + h(a, old, b)\n"],
            {0: "g(a, new, b) + h(a, new, b)\n"},
            id="twice in a line",
        ),
        pytest.param(
            "  open(path)\n  read(path)\n",
            "  with open(path):\n    read(path)\n",
            ["    open(path)\n", "    read(path)\n", "close(path)\n", "\n"],
            {0: "    with open(path):\n      read(path)\n"},
            id="whole lines in their own indentation",
        ),
        pytest.param("}\n", "}  # end\n", ["}\n"], {}, id="lines that are everywhere"),
        pytest.param(
            "a = 1\nb = 2\n", "a = 1\nnew()\nb = 2\n", ["a = 1\n", "\n", "b = 2\n"], {}, id="apart"
        ),
    ],
)
def test_the_edit_is_repeated(before, after, lines, expected) -> None:
    found = repeats(lines, EditExample(before=before, after=after))
    assert {it.first: it.text for it in found} == expected


def test_what_has_most_in_common_comes_first() -> None:
    lines = ["  f(x, old, y)\n", "  g(k, f(x, old, y))\n", "  f(x, old, y, z)\n"]
    edit = EditExample(before="  g(k, f(x, old, y))\n", after="  g(k, f(x, new, y))\n")
    assert [it.first for it in repeats(lines, edit)] == [1, 0, 2]
