import pytest

from intarsia.infill.canvas.window import budget_chars, prefix_start, suffix_end
from intarsia.infill.languages import language_for_id
from intarsia.infill.syntax.parse import parse

PYTHON = language_for_id("python")
LINES = "".join(f"line_{number:02} = {number}\n" for number in range(50))
DEFINITIONS = "".join(f"def f{it}():\n    a = {it}\n    return a\n\n\n" for it in range(40))


def test_budget_is_estimated_in_characters():
    assert budget_chars(0) == 0
    assert budget_chars(1000) == 3200


def test_a_text_within_the_budget_is_kept_whole():
    assert prefix_start(LINES, len(LINES), 10_000, None) == 0
    assert suffix_end(LINES, 0, 10_000, None) == len(LINES)


@pytest.mark.parametrize("num_tokens", [10, 33, 50, 99])
def test_both_sides_are_cut_at_line_edges(num_tokens):
    start = prefix_start(LINES, len(LINES), num_tokens, None)
    end = suffix_end(LINES, 0, num_tokens, None)
    assert LINES[start - 1] == "\n" == LINES[end - 1]
    assert len(LINES) - start <= budget_chars(num_tokens) >= end
    assert len(LINES) - start > budget_chars(num_tokens) - 12 < end + 0


def test_a_definition_is_not_cut_in_two_where_a_little_less_will_do():
    syntax = parse(DEFINITIONS, PYTHON)
    start = prefix_start(DEFINITIONS, len(DEFINITIONS), 200, syntax)
    end = suffix_end(DEFINITIONS, 0, 200, syntax)
    assert DEFINITIONS[start:].startswith("def f")
    assert DEFINITIONS[end:].startswith("def f")


def test_one_long_line_is_cut_at_a_word_edge():
    text = "alpha beta " * 50
    start = prefix_start(text, len(text), 10, None)
    end = suffix_end(text, 0, 10, None)
    assert text[start:].startswith(("alpha", "beta", " "))
    assert not (text[start - 1].isalpha() and text[start].isalpha())
    assert not (text[end - 1].isalpha() and text[end].isalpha())
    assert len(text) - start <= 32 >= end


@pytest.mark.parametrize(
    "unit",
    [
        "e\u0301",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\ud83d\ude00",
        "\U0001f1e9\U0001f1ea",
    ],
    ids=["accent", "family", "surrogates", "flag"],
)
def test_a_cut_splits_no_visible_character(unit):
    text = (unit + " ") * 40
    edges = set(range(0, len(text), len(unit) + 1)) | set(
        range(len(unit), len(text) + 1, len(unit) + 1)
    )
    for num_tokens in range(1, 30):
        assert prefix_start(text, len(text), num_tokens, None) in edges
        assert suffix_end(text, 0, num_tokens, None) in edges


def test_a_cut_splits_no_crlf():
    text = "ab\r\n" * 40
    for num_tokens in range(40):
        for edge in (
            prefix_start(text, len(text), num_tokens, None),
            suffix_end(text, 0, num_tokens, None),
        ):
            assert text[edge - 1 : edge + 1] != "\r\n"


def test_without_a_budget_nothing_is_shown():
    assert prefix_start(LINES, len(LINES), 0, None) == len(LINES)
    assert suffix_end(LINES, 0, 0, None) == 0
