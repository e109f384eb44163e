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
DIARY = '''"""The ledger of one ship."""


class Ledger:
    """Harbours with the day of arrival."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.days: dict[str, int] = {}

    def enter_harbour(self, harbour: str, day: int) -> None:
        """Note that the ship has arrived."""
        self.days[harbour] = day
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
    """Return the ghost texts that were drawn, one after the other."""
    return [entry["ghost"] for entry in history if entry["ghost"]]


def test_it_shows_the_code_of_the_other_file_with_the_reason(windows: Windows) -> None:
    window = windows.open(USE, others=OTHERS)
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


def test_an_answer_is_not_revised_once_the_user_has_typed_on(windows: Windows) -> None:
    window = windows.open(USE, others=OTHERS)
    window.type(".")
    first = window.ghost_text()
    window.type(first[0])
    window.expect_ghost_text(first[1:])
    window.expect_the_model_sees("def charge_category")  # so it could be revised now
    assert ghosts(window.history()) == [first, first[1:]]


def test_each_of_two_folders_gives_its_own_code_alone(windows: Windows) -> None:
    use = USE.replace("║", "")
    roots = {
        "home": {"home.py": use, "ledger.py": LEDGER},
        "ship": {"ship.py": use, "ledger.py": DIARY},
    }
    window = windows.open_roots(roots, "home/home.py")
    names = {"home": "charge_category", "ship": "enter_harbour"}
    for root, other in (("home", "ship"), ("ship", "home")):
        shown = window.open_file(window.file.parents[1] / root / f"{root}.py")
        shown.press("Control+Home", "ArrowDown", "ArrowDown", "ArrowDown", "End")
        shown.type(".")
        assert shown.ghost_text()
        seen = shown.expect_the_model_sees(names[root])
        assert names[other] not in seen
        shown.page.get_by_role("tab", name="What the Model Sees").click(button="middle")
        shown.expect_saved(USE.replace("║", "."))
