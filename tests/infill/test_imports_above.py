"""A prefix that begins below a file's imports is shown with them."""

import tomllib
from pathlib import Path

import pytest

from intarsia.infill.canvas import Budget, Canvas, Window, budget_chars, build_canvas
from intarsia.infill.holes.hole import hole_for_range
from intarsia.infill.languages import language_for_id

DRAWN = tomllib.loads(Path(__file__).with_name("imports_above.toml").read_text(encoding="utf-8"))

BUDGET = Budget(prefix_tokens=300)
# Whole statements in most of the languages: a parse that recovers from each line takes too long.
BELOW = "".join(f"compute_value({it});\n" for it in range(600))


def canvas_of(text: str, language_id: str, *earlier: Window) -> Canvas:
    """Return the canvas of a hole at the end of a text."""
    language = language_for_id(language_id)
    hole = hole_for_range(text, len(text), len(text), language)
    return build_canvas(hole, BUDGET, earlier)


def shown(head: str, language_id: str, newline: str = "\n") -> str:
    """Return what is shown before the lines near the hole."""
    prefix = canvas_of((head + BELOW).replace("\n", newline), language_id).prefix
    return prefix[: prefix.index("compute_value(")]


@pytest.mark.parametrize(("language_id", "head"), [tuple(it.values()) for it in DRAWN["drawn"]])
def test_only_imports_of_the_whole_file_are_shown(language_id, head):
    """The lines with a mark are."""
    marked = [line.partition("»")[2] for line in head.split("\n") if "»" in line]
    expected = "".join(f"{line}\n" for line in [*marked, *[""] * bool(marked)])
    assert shown(head.replace("»", ""), language_id) == expected
    assert shown("\ufeff" + head.replace("»", ""), language_id, "\r\n") == expected


def test_where_not_all_fit_those_of_the_project_go_first_and_then_the_last():
    others = [f"from package_{it} import first_name, second_name" for it in range(20)]
    first = "from .prices_of_all import first_name, second_name"
    lines = shown("\n".join([others[0], first, *others[1:], "import z", ""]), "python").split("\n")
    assert lines[0] == first
    assert lines[1:-3] == others[-len(lines) + 4 :]
    assert lines[-3:] == ["import z", "", ""]


def test_of_a_list_that_is_too_long_the_last_lines_are_shown():
    names = [f'\t"example.org/package/{it}"' for it in range(50)]
    lines = shown("\n".join(["import (", *names, ")", ""]), "go").split("\n")
    assert lines[0] == "import ("
    assert lines[1:-3] == names[-len(lines) + 4 :] != []
    assert lines[-3:] == [")", "", ""]


@pytest.mark.parametrize("num_lines", range(0, 90, 4))
def test_no_import_is_shown_twice_and_a_text_that_fits_is_as_it_is(num_lines):
    head = "".join(f"from package_{it} import name\n" for it in range(30))
    text = head + "".join(BELOW.splitlines(keepends=True)[:num_lines])
    prefix = canvas_of(text, "python").prefix
    assert all(prefix.count(line) <= 1 for line in head.splitlines())
    assert prefix == text or (len(text) > budget_chars(300) >= len(prefix))


def test_while_a_user_types_the_prefix_is_only_added_to():
    earlier, prefix = (), ""
    for at in range(30):
        text = "import os\n" + BELOW + "y = 1\n" * at
        canvas = canvas_of(text, "python", *earlier)
        assert canvas.prefix.startswith(prefix)
        earlier, prefix = (canvas.window, *earlier), canvas.prefix
    assert prefix.startswith("import os\n\ncompute_value(")
