"""Ghost text only inserts. Drawn: ``|`` is the cursor, ``[…]`` what the suggestion replaces."""

from dataclasses import replace

import pytest

from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.suggestion import NoSuggestion, Suggestion, inserted_at_cursor
from intarsia.lsp.suggestions.ghost_text import GhostText


def place(drawing: str, text: str) -> str | NoSuggestion:
    """Read the drawing and place the suggestion ``text``."""
    plain, bare = drawing.replace("[", "").replace("]", ""), drawing.replace("|", "")
    start, end = bare.index("["), bare.index("]") - 1
    suggestion = Suggestion(text=text, start=start, end=end)
    return inserted_at_cursor(suggestion, plain.replace("|", ""), plain.index("|"))


def ghost(*texts: str) -> GhostText:
    """Return a ghost text of these tokens, each surer than the one before."""
    tokens = (ConfidentToken(text, number / 10) for number, text in enumerate(texts))
    return GhostText("".join(texts), tuple(tokens))


@pytest.mark.parametrize(
    ("drawing", "suggested", "shown"),
    [
        ("x = |[]", "1", "1"),
        ("[x = |]", "x = 1", "1"),
        ("f(|[)]", "a, b)", "a, b"),
        ("f(|[);]", "a);", "a"),
        ("[x = |;]", "x = 1;", "1"),
        ("x =|[]", " 1", " 1"),
        ("|[]", "a\nb", "a\nb"),
    ],
)
def test_ghost_text_is_what_goes_in_at_the_cursor(drawing: str, suggested: str, shown: str) -> None:
    assert place(drawing, suggested) == shown


@pytest.mark.parametrize(
    ("drawing", "suggested", "reason"),
    [
        ("[x] = |", "y", "not at the cursor"),
        ("| []", "y", "not at the cursor"),
        ("[xy|]", "yx", "left of the cursor"),
        ("f(|[a)]", "b)", "right of the cursor"),
        ("[aa|aa]", "aaa", "right of the cursor"),
        ("f(|[)]", ")", "adds nothing"),
        ("x = |[]", "  ", "adds nothing"),
    ],
)
def test_what_would_change_text_is_no_ghost_text(drawing: str, suggested: str, reason: str) -> None:
    found = place(drawing, suggested)
    assert isinstance(found, NoSuggestion)
    assert reason in found.reason


@pytest.mark.parametrize(("typed", "rest"), [("", "a + 1"), ("a", " + 1"), ("a + ", "1")])
def test_typing_along_leaves_the_rest(typed: str, rest: str) -> None:
    left = ghost("a", " +", " 1").after_typing(typed)
    assert left is not None
    assert left.text == rest


def test_typing_along_cuts_a_token_in_two_and_keeps_its_confidence() -> None:
    left = ghost("ab", "cd", "ef").after_typing("abc")
    assert left is not None
    assert left.tokens == (ConfidentToken("d", 0.1), ConfidentToken("ef", 0.2))


@pytest.mark.parametrize("typed", ["b", "a + 1", "a + 1x"])
def test_typing_something_else_or_all_of_it_leaves_nothing(typed: str) -> None:
    assert ghost("a", " +", " 1").after_typing(typed) is None


def test_a_part_is_shown_and_the_whole_is_kept() -> None:
    whole = replace(ghost("a", " +", " 1"), shown_length=3)
    assert whole.shown.text == "a +"
    assert [token.text for token in whole.shown.tokens] == ["a", " +"]
    assert not whole.is_hidden
    assert replace(whole, shown_length=0).is_hidden


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("", "a +"), ("a", " +"), ("a ", "+"), ("a +", None), ("a + ", None), ("b", None)],
)
def test_typing_along_keeps_the_part_that_is_shown(typed: str, shown: str | None) -> None:
    left = replace(ghost("a", " +", " 1"), shown_length=3).after_typing(typed)
    assert (None if left is None else left.shown.text) == shown
