"""Ghost text only inserts. Drawn: ``|`` is the cursor, ``[…]`` what the suggestion replaces."""

import pytest

from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia.lsp.ghost_text import GhostText, ghost_text


def place(drawing: str, text: str) -> GhostText | NoSuggestion:
    """Read the drawing and place the suggestion ``text``."""
    plain = drawing.replace("[", "").replace("]", "")
    cursor, source = plain.index("|"), plain.replace("|", "")
    bare = drawing.replace("|", "")
    start, end = bare.index("["), bare.index("]") - 1
    return ghost_text(Suggestion(text=text, start=start, end=end), source, cursor)


@pytest.mark.parametrize(
    ("drawing", "suggested", "text", "tail"),
    [
        ("x = |[]", "1", "1", ""),
        ("[x = |]", "x = 1", "1", ""),
        ("f(|[)]", "a, b)", "a, b", ""),
        ("f(|[)]", "a)(b)", "a)(b", ""),
        ("f(|[)];", "a); g()", "a); g(", ""),
        ("f(|[)]", "a) + 1", "a) + 1", ")"),
        ("x =| []", "1", " 1", ""),
        ("x = |[  ]", "1", "1", ""),
        ("|[]", "a\nb", "a\nb", ""),
    ],
)
def test_ghost_text_stands_at_the_cursor(
    drawing: str, suggested: str, text: str, tail: str
) -> None:
    assert place(drawing, suggested) == GhostText(text=text, tail=tail)


@pytest.mark.parametrize(
    ("drawing", "suggested", "reason"),
    [
        ("[x] = |", "y", "left of the cursor"),
        ("[xy|]", "yx", "left of the cursor"),
        ("f(|[a)]", "b)", "right of the cursor"),
        ("f(|[a\nb]", "a\nb c", "right of the cursor"),
        ("f(|[)]", ")", "adds nothing"),
        ("x = |[]", "  ", "adds nothing"),
    ],
)
def test_what_would_change_or_delete_text_is_no_ghost_text(
    drawing: str, suggested: str, reason: str
) -> None:
    found = place(drawing, suggested)
    assert isinstance(found, NoSuggestion)
    assert reason in found.reason


def test_typing_along_leaves_the_rest() -> None:
    ghost = GhostText(text="a) + 1", tail=")")
    assert ghost.after_typing("a") == GhostText(text=") + 1", tail=")")
    assert ghost.after_typing("") == ghost


@pytest.mark.parametrize("typed", ["b", "a) + 1", "a) + 1x", "a)"])
def test_typing_something_else_or_all_of_it_leaves_nothing(typed: str) -> None:
    assert GhostText(text="a) + 1", tail=")").after_typing(typed) is None
