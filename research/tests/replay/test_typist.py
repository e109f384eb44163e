"""The user of the set ``typing`` types as in an editor, and judges what is shown."""

import pytest

from intarsia_research.replay.harm import why_harmful
from intarsia_research.replay.typist import Typist, num_keys

TEXTS = [
    ("f(a, [b])", 9),
    ("if (x) {\n    return `a`;\n}", 22),
    ("say(\"it's\", 'b')", 16),
    ("{{ user.name }}", 15),
    ("a = (\n  1,\n  2\n)\nb", 14),
    ("don't (", 7),
]


@pytest.mark.parametrize(("goal", "keys"), TEXTS)
def test_the_document_is_what_the_changes_make_it_and_ends_with_the_goal(goal, keys):
    typist, count = Typist(before="x\n", goal=goal, after="\ny\n"), 0
    document = typist.document
    while typist.goal:
        change = typist.press()
        document = document[: change.start] + change.text + document[change.end :]
        count += 1
        assert document == typist.document
        assert change.cursor == len(typist.before)
    assert typist.before == f"x\n{goal}"
    assert count == keys == num_keys("x\n", goal, "\ny\n")


def test_the_editor_closes_and_the_user_types_over() -> None:
    typist = Typist(before="", goal="f(a)", after="\n")
    typist.press()
    typist.press()
    assert (typist.before, typist.auto) == ("f(", ")")
    typist.press()
    typist.press()
    assert (typist.before, typist.auto) == ("f(a)", "")


@pytest.mark.parametrize(
    ("suggestion", "is_right"),
    [("a, b", True), ("a", True), ("a, b)", False), ("c", False), ("", False)],
)
def test_a_suggestion_is_right_with_what_stands_behind_it(suggestion: str, is_right: bool) -> None:
    typist = Typist(before="f(", goal="a, b)\nc", after="\n", auto=")")
    assert typist.is_right(suggestion) is is_right


def test_a_suggestion_that_replaces_the_closed_mark_is_right_and_taken() -> None:
    typist = Typist(before="f(", goal="a, b)\nc", after="\n", auto=")")
    assert typist.is_right("a, b)", removed=1)
    typist.accept("a, b)", removed=1)
    assert (typist.document, typist.goal) == ("f(a, b)\n", "\nc")


@pytest.mark.parametrize(
    ("document", "text", "harm"),
    [
        ("f(‸)", "a", None),
        ("f(‸)", "a)", "brackets"),
        ("x = ‸", "[1", "brackets"),
        ('"‸"', 'a",', "quotes"),
        ("‸return x", "import y", "words"),
        ("‸return x", "import y\n", None),
        ("pri‸nt", "o", None),
        ("# don‸", "'t (as one says)", None),
    ],
)
def test_harm_is_what_an_accepted_text_leaves(document: str, text: str, harm: str | None) -> None:
    cursor = document.index("‸")
    assert why_harmful(document.replace("‸", ""), cursor, text) == harm
