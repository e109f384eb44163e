"""Notebooks in VS Code: cells are completed with the code of the cells around them."""

import json
from typing import Any

from windows import Windows

OUTPUT = "the output that stays here"
CELLS = (
    "monthly_rent = 1250\nmonthly_food = 400\nprint(monthly_rent)",
    "# The rent of a whole year.\nyearly_rent = 12 *",
    "print(yearly_rent)",
)


def notebook(*cells: str) -> dict[str, Any]:
    """Return a notebook of code cells in Python; the first has an output."""
    printed = {"name": "stdout", "output_type": "stream", "text": [f"{OUTPUT}\n"]}
    return {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell-{number}",
                "metadata": {},
                "outputs": [printed] if number == 0 else [],
                "source": text.splitlines(keepends=True),
            }
            for number, text in enumerate(cells)
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def test_a_cell_is_completed_with_a_name_of_the_cell_above(windows: Windows) -> None:
    window = windows.open_notebook(json.dumps(notebook(*CELLS), indent=1) + "\n")
    window.enter_cell(1)
    window.type(" ")
    window.expect_ghost_text("monthly_rent")
    window.press("Tab")
    window.expect_ghost_text("")
    saved = json.loads(window.saved_change(window.file.read_text()))
    first, second, last = CELLS
    assert saved == notebook(first, f"{second} monthly_rent", last)
