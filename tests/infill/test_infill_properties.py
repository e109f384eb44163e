"""For any text, place and fill: nothing raises, and nothing outside the hole changes."""

from code_like_text import languages, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from intarsia.infill.canvas import Budget, build_canvas
from intarsia.infill.holes.hole import Hole, find_hole, hole_for_range
from intarsia.infill.postprocess.clean import clean
from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia.infill.syntax.text import with_plain_newlines

budgets = st.builds(
    Budget,
    prefix_tokens=st.integers(0, 60),
    suffix_tokens=st.integers(0, 60),
    hole_tokens=st.integers(1, 128),
)


def check(text, hole, language, budget, raw):
    canvas = build_canvas(hole, budget)
    before = with_plain_newlines(text[: hole.given_start]).removeprefix("\ufeff")
    after = with_plain_newlines(text[hole.end :]).removeprefix("\ufeff")
    assert before.endswith(canvas.prefix)
    assert after.startswith(canvas.suffix)
    assert canvas.given == with_plain_newlines(text[hole.given_start : hole.start])
    assert "\n" not in canvas.given
    result = clean(raw, hole, canvas)
    assert isinstance(result, NoSuggestion) or (result.start, result.end) == (hole.start, hole.end)
    if isinstance(result, Suggestion):
        assert result.text.strip()
        # A line goes on while its own brackets are open, if the text after it does not close them.
        may_continue = hole.kind != "line" or canvas.max_open is not None
        # A word that was begun right before a statement gets a line of its own, which ends.
        written = result.text.rstrip() if hole.start == hole.end else result.text
        assert may_continue or "\n" not in written
        again = clean(raw, hole, canvas)
        assert again == result


@settings(max_examples=400)
@given(texts, languages, budgets, texts, st.data())
def test_any_cursor_in_any_text(text, language, budget, raw, data):
    offset = data.draw(st.integers(0, len(text)))
    hole = find_hole(text, offset, language)
    if isinstance(hole, Hole):
        assert hole.start == hole.end
        assert hole.start in (offset, offset - 1, offset + 1)
        check(text, hole, language, budget, raw)


@settings(max_examples=400)
@given(texts, languages, budgets, texts, st.data())
def test_any_range_in_any_text(text, language, budget, raw, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    check(text, hole_for_range(text, start, end, language), language, budget, raw)


@settings(max_examples=150)
@given(texts, texts, languages, st.data())
def test_a_fill_that_runs_on_through_the_text_after_it(text, fill, language, data):
    offset = data.draw(st.integers(0, len(text)))
    hole = find_hole(text, offset, language)
    if isinstance(hole, Hole):
        check(text, hole, language, Budget(), fill + text[offset:])
