"""A text is cut into passages of bounded length that begin where definitions begin."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from intarsia.workspace.index.passages import (
    FEWEST_LINES,
    MOST_LINES,
    cut_passages,
    passage_words,
)


def numbered(num_lines: int) -> str:
    return "\n".join(f"word_{chr(97 + n % 26)}xyz = 1" for n in range(num_lines))


def test_a_passage_ends_where_a_definition_starts():
    bounds = [(it.start_line, it.end_line) for it in cut_passages(numbered(50), [3, 14, 33, 40])]
    assert bounds == [(0, 14), (14, 33), (33, 50)]


def test_without_definitions_passages_have_the_greatest_length():
    bounds = [(it.start_line, it.end_line) for it in cut_passages(numbered(45), [])]
    assert bounds == [(0, 20), (20, 40), (40, 45)]


@given(num_lines=st.integers(0, 200), starts=st.lists(st.integers(0, 200)))
def test_passages_follow_each_other_within_the_bounds(num_lines: int, starts: list[int]):
    passages = cut_passages(numbered(num_lines), starts)
    assert all(one.end_line == other.start_line for one, other in itertools.pairwise(passages))
    assert all(FEWEST_LINES <= it.end_line - it.start_line <= MOST_LINES for it in passages[:-1])
    assert sum(it.end_line - it.start_line for it in passages) == num_lines


def test_the_words_are_those_of_the_identifiers_without_keywords():
    words = passage_words("def parseHttpHeader(raw_lines):\n    return raw_lines\n")
    assert sorted(set(words)) == ["header", "http", "line", "parse", "raw"]
    assert words.count("raw") == 2


def test_a_word_counts_a_few_times_and_a_passage_has_not_too_many():
    assert passage_words("total " * 50) == ["total"] * 4
    letters = "abcdefghijklmnopqrstuvwxyz"
    many = " ".join(f"{one}{other}xq" for one in letters for other in letters)
    assert len(passage_words(many)) == 400
    assert passage_words("a" * 41) == []


def test_lines_without_words_make_no_passage():
    assert cut_passages("\n" * 30, []) == []
    assert cut_passages("", []) == []
