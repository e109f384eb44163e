"""What is said of one answer, and which ends of it repeat what follows."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sample_cases

from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.judge import Judgement, judge
from intarsia_research.evaluation.suffix_repetition import repeats_suffix

DRAWN = tomllib.loads(Path(__file__).with_name("judged.toml").read_text(encoding="utf-8"))


def case(marked: str, language: str = "python", kind: Any = "line") -> Case:
    """Return a case drawn as ``prefix⟦truth⟧suffix``."""
    prefix, _, rest = marked.partition("⟦")
    truth, _, suffix = rest.partition("⟧")
    return sample_cases.case(prefix, truth, suffix, language=language, kind=kind)


def judgement(marked: str, text: str, **about: Any) -> Judgement:
    return judge(case(marked, **about), Answer(text=text, reason=None, ms=1))


@pytest.mark.parametrize(("marked", "text", "is_exact"), DRAWN["exact"]["cases"])
def test_exact_is_equal_but_for_blanks_at_the_end_and_kinds_of_line_ends(marked, text, is_exact):
    assert judgement(marked, text).is_exact is is_exact


def test_in_a_block_no_line_s_trailing_blanks_count():
    marked = "if a:\n⟦    b()\n\n    c()⟧\n"
    assert judgement(marked, "    b() \n  \n    c()", kind="block").is_exact
    assert not judgement(marked, "    b() \n  \n    c()", kind="line").is_exact


def test_similarity_is_one_less_the_share_of_signs_put_in_or_taken_out():
    assert judgement("⟦abcd⟧", "abcd").similarity == 1
    assert judgement("⟦abcd⟧", "abcd\n").similarity == 1
    assert judgement("⟦abcd⟧", "wxyz").similarity == 0
    assert judgement("⟦abcd⟧", "ab").similarity == pytest.approx(1 - 2 / 6)
    assert judgement("⟦abcd⟧", "abxd").similarity == pytest.approx(1 - 2 / 8)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_answer_is_judged_as_it_stands(text):
    found = judgement("⟦x = 1⟧\n", text)
    assert (found.is_empty, found.is_exact, found.similarity) == (True, False, 0)
    assert (found.parses, found.duplicates_suffix, found.length_error) == (None, False, -5)


@pytest.mark.parametrize(
    ("text", "parses"), [("x = 1", True), ("y", True), ("x = (", False), ("x = 1)", False)]
)
def test_an_answer_parses_when_the_file_with_it_has_no_error(text, parses):
    assert judgement("a = 1\n⟦x = 1⟧\nb = 2\n", text).parses is parses


def test_whether_it_parses_is_not_known_where_the_file_is_broken_itself_or_has_no_grammar():
    assert judgement("def (\n⟦x = 1⟧\n", "x = 1").parses is None
    assert judgement("a\n⟦b⟧\n", "b", language="plaintext").parses is None


def test_length_error_counts_signs_too_many_or_too_few():
    assert judgement("⟦abcd⟧\n", "abcdef").length_error == 2
    assert judgement("⟦abcd⟧\n", "a   \n").length_error == -3


def test_a_repetition_that_the_truth_has_too_is_not_held_against_an_answer():
    assert judgement("⟦f(1)⟧\nf(2)\n", "f(2)").duplicates_suffix
    assert not judgement("⟦f(2)⟧\nf(2)\n", "f(2)").duplicates_suffix


@pytest.mark.parametrize(("text", "is_named"), DRAWN["named"]["cases"])
def test_named_is_the_name_as_a_whole_identifier(text: str, is_named: bool) -> None:
    named = replace(case("x = ⟦weigh(p)⟧\n"), name="weigh")
    assert judge(named, Answer(text=text, reason=None, ms=1)).is_named is is_named
    assert judgement("x = ⟦weigh(p)⟧\n", text).is_named is None


def check(drawn: str, text: str) -> bool:
    prefix, _, suffix = drawn.partition("║")
    return repeats_suffix(prefix, text, suffix)


@pytest.mark.parametrize(("drawn", "text"), DRAWN["repeated"]["cases"])
def test_the_text_behind_the_hole_is_repeated(drawn, text):
    assert check(drawn, text)


@pytest.mark.parametrize(("drawn", "text"), DRAWN["not_repeated"]["cases"])
def test_brackets_alone_and_other_text_are_no_repetition(drawn, text):
    assert not check(drawn, text)
