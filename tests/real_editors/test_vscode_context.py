"""Code of other files in VS Code: what the model sees of it, and how it revises an answer."""

from collections.abc import Mapping
from typing import Any

from windows import Windows

LEDGER = '''"""The ledger of one household."""


class Ledger:
    """Expenses in cents, by category."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.cents_by_category: dict[str, int] = {}

    def charge_category(self, category: str, cents: int) -> None:
        """Add an expense to a category."""
        self.cents_by_category[category] = self.cents_by_category.get(category, 0) + cents
'''
USE = """from ledger import Ledger

ledger = Ledger("Ada")
ledger║
"""
INDEX_STARTS_MS = 8_000
"""An answer that comes before the index runs is not revised; nothing on the screen tells of it."""

OTHERS: Mapping[str, str] = {"ledger.py": LEDGER}
EVERYTHING: dict[str, object] = {"intarsia.showThreshold": "0"}
"""An improbable answer is shown, too: one that is written without the other file."""


def ghosts(history: list[dict[str, Any]]) -> list[str]:
    return [entry["ghost"] for entry in history if entry["ghost"]]


def test_it_shows_the_code_of_the_other_file_with_the_reason(windows: Windows) -> None:
    window = windows.open(USE, others=OTHERS, settings=EVERYTHING)
    window.page.set_viewport_size({"width": 1280, "height": 1200})  # all of it is drawn
    window.type(".")
    assert window.ghost_text()
    seen = window.expect_the_model_sees("def charge_category(self, category: str, cents: int)")
    assert "ledger.py" in seen
    assert "members of: Ledger" in seen  # the reason
    assert "ledger = Ledger" in seen


def test_a_revised_answer_replaces_the_ghost_text_in_place(windows: Windows) -> None:
    window = windows.open(USE, others=OTHERS, settings=EVERYTHING)
    window.page.wait_for_timeout(INDEX_STARTS_MS)
    window.type(".")
    first = window.ghost_text()
    assert "charge_category" not in first
    revised = window.other_ghost_text(first) or window.ghost_text()
    assert revised.startswith("charge_category(")
    assert ghosts(window.history()) == [first, revised]
    window.press("Tab")
    window.expect_ghost_text("")
    window.expect_saved(USE.replace("║", f".{revised}"))
