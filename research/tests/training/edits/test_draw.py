"""Examples drawn from edits: what the model reads, and what it is to write."""

from pathlib import Path

import pytest
from commit_edits import case_of, control_case, hunk, renamed_case
from toy_causal import toy_text

from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia_research.edits.edit_case import EditCase
from intarsia_research.training.edits.draw import EditDraw, draw_edits
from intarsia_research.training.holes.packed_holes import HoleIds

ALWAYS = EditDraw(seed=1, share_left_alone=1.0, share_controls=1.0)


@pytest.fixture(scope="module")
def text(toy: Path) -> FimTokenizer:
    return toy_text(toy)


def drawn(text: FimTokenizer, *cases: EditCase, draw: EditDraw = ALWAYS) -> list[HoleIds]:
    return list(draw_edits(cases, text, draw))


def read(text: FimTokenizer, ids: object) -> str:
    return b"".join(map(text.bytes_of, ids)).decode()  # type: ignore[arg-type, call-overload]


def parts(text: FimTokenizer, example: HoleIds) -> tuple[str, str, str, str, str]:
    """Return the window, the edit before and after, and the lines before and after."""
    prompt = read(text, example.given)
    _, edit_before, rest = prompt.split("original:\n", 2)[0:3]
    edit_before, edit_after = edit_before.split("updated:\n")
    lines = rest.removesuffix("updated:\n")
    return read(text, example.prefix), edit_before, edit_after, lines, read(text, example.middle)


def test_the_lines_are_those_of_the_file_and_the_answer_has_the_commits_changes(
    text: FimTokenizer,
) -> None:
    cases = [renamed_case("old", "new", number=number) for number in range(40)]
    num_changed = num_alone = 0
    for example in drawn(text, *cases):
        window, before, after, lines, answer = parts(text, example)
        assert lines in window  # it begins at or before the lines, and holds them all
        assert before.replace("old", "new") == after != before
        num_changed += lines != answer
        num_alone += lines == answer
        if lines != answer:
            assert lines.replace("old", "new") == answer
        else:
            assert "old" not in lines or "return" in lines or "print" in lines
    assert num_changed > 40 and num_alone > 5


def test_a_control_is_left_alone(text: FimTokenizer) -> None:
    examples = drawn(text, *(control_case(number=number) for number in range(20)))
    assert len(examples) > 10
    for example in examples:
        *_, lines, answer = parts(text, example)
        assert lines == answer != ""


def test_added_lines_are_shown_with_the_lines_around_them(text: FimTokenizer) -> None:
    before = "a\nb\nc\nd\ne\nf\ng\nh\n"
    added = case_of(before, [hunk(1, "", "x\n"), hunk(5, "", "x\n")], id="1", repo="r")
    seen = set()
    for seed in range(30):
        for example in drawn(text, added, draw=EditDraw(seed=seed, share_left_alone=0.0)):
            _, edit_before, edit_after, lines, answer = parts(text, example)
            seen.add((edit_before, edit_after))
            assert answer == lines.replace("f\n", "x\nf\n").replace("b\n", "x\nb\n")
    assert ("a\nb\n", "a\nx\nb\n") in seen


def test_the_same_seed_draws_the_same(text: FimTokenizer) -> None:
    cases = [renamed_case("old", "new", number=number) for number in range(5)]
    assert drawn(text, *cases) == drawn(text, *cases)
    assert drawn(text, *cases) != drawn(text, *cases, draw=EditDraw(seed=2))


def test_cases_of_a_repository_are_one_group(text: FimTokenizer) -> None:
    ours = drawn(text, *(renamed_case("old", "new", number=number) for number in range(3)))
    theirs = drawn(text, renamed_case("old", "new", repo="other/name"))
    assert len({example.group for example in ours}) == 1
    assert {example.group for example in ours} != {example.group for example in theirs}
