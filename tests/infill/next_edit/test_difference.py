"""What is drawn of an offer: within a line where lines pair up, as whole lines otherwise."""

import time

import pytest

from intarsia.infill.next_edit.difference import Difference, difference


def drawn(before: str, after: str) -> str:
    """Return the text with what goes in [] and what comes in {}, and new lines after a +."""
    found = difference(before, after)
    marks = [
        *((at, 1, "[") for at, _ in found.removed),
        *((at, -1, "]") for _, at in found.removed),
        *((at, 0, f"{{{text}}}") for at, text in found.added),
    ]
    for at, _, mark in sorted(marks, reverse=True):
        before = before[:at] + mark + before[at:]
    return "+".join([before, *found.block])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("print(area(1, 2))", "print(size(1, 2))", "print([area]{size}(1, 2))"),
        ("f(a)\r\n", "f(a, b)\r\n", "f(a{, b})\r\n"),
        ("f(a, größe)", "f(größe)", "f([a, ]größe)"),
        ("    return None", "    raise KeyError(name)", "    [return None]{raise KeyError(name)}"),
        ("x = 1", "    if y:", "[x = 1]{    if y:}"),
        ("x = 1\n", "\n", "[x = 1]\n"),
        ("\n", "x = 1\n", "{x = 1}\n"),
        ("a(1)\nb(2)\n", "a(1)\nc(2)\n", "a(1)\n[b]{c}(2)\n"),
        ("  f(a)\n", "  f(\n    a)\n", "  [f(a)]\n+  f(+    a)"),
        ("a\r\n  b\r\n", "", "[a]\r\n  [b]\r\n"),
        ("", "import os\n", "+import os"),
        ("", "\nx = 1", "+x = 1"),  # after a last line without line end
        ("", "\nx = 1\n", "++x = 1"),
        ("\nx = 1", "", "\n[x = 1]"),
    ],
)
def test_what_goes_and_what_comes_is_marked(before: str, after: str, expected: str) -> None:
    assert drawn(before, after) == expected


def test_the_same_lines_have_no_difference() -> None:
    assert difference("    x = 1\n", "    x = 1\n") == Difference(removed=[], added=[])


def test_a_very_long_line_is_replaced_as_a_whole() -> None:
    started = time.perf_counter()
    (removed,) = difference("a, b;" * 20_000, "b, a;" * 20_000).removed
    assert removed == (0, 100_000)
    assert time.perf_counter() - started < 2
