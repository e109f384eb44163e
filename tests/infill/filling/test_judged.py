"""How probable an answer of the engine is to be kept, and how much of it an editor shows."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from scripted_engine import filled_with

from intarsia.engine.ipc.messages import CanvasToken, Filled
from intarsia.infill.calibration import keep_probability
from intarsia.infill.filling.described_body import asking_for_body
from intarsia.infill.filling.judged import (
    Judged,
    certain_beginning,
    end_confidence_of,
    judge,
    may_go_on,
    may_hide,
    whole_part,
)
from intarsia.infill.filling.plan import FillOptions, FillPlan, plan_at_cursor
from intarsia.infill.fitted_calibrations import CALIBRATIONS
from intarsia.infill.languages import language_for_id
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion, Suggestion

MODEL = next(iter(CALIBRATIONS))
LINE = (("total", 0.9), (" +=", 0.9), (" rates", 0.5), ("[i]", 0.9))


def canvas(*parts: tuple[str, float | None], num_settled: int = 99) -> tuple[CanvasToken, ...]:
    return tuple(
        CanvasToken(text, confidence, number < num_settled)
        for number, (text, confidence) in enumerate(parts)
    )


def answer(parts: Sequence[tuple[str, float | None]] = LINE, **changes: Any) -> Filled:
    fields = {"tokens": canvas(*parts), "model": MODEL, "end_confidence": 0.9} | changes
    return filled_with("".join(text for text, _ in parts), **fields)


def plan(marked="def f(rates, i):\n    total = 0\n    ‸", language="python") -> FillPlan:
    before, _, after = marked.partition("‸")
    found = plan_at_cursor(before + after, len(before), language_for_id(language), FillOptions())
    assert isinstance(found, FillPlan)
    return found


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        ("", "deadline", "the deadline passed before the model wrote anything"),
        ("", "end_of_hole", "the model wrote nothing"),
        (") + 1", "deadline", "a bracket would be closed that is not open"),
    ],
)
def test_a_text_that_the_deadline_kept_away_is_not_the_models_silence(text, finish, reason):
    found = plan().read(answer(((text, 0.9),), finish_reason=finish))
    assert isinstance(found, NoSuggestion)
    assert found.reason == reason


def suggestion_of(filled: Filled, at: FillPlan) -> Suggestion:
    found = at.read_at_cursor(filled)
    assert isinstance(found, Suggestion)
    return found


def judged(filled: Filled, percent: int) -> Judged:
    at = plan()
    return judge(at, filled, suggestion_of(filled, at), percent)


@pytest.mark.parametrize(
    ("line", "length"),
    [
        (
            (("total", 0.9), (" =", 0.9), (" f(i)", 0.9), (" +", 0.8), (" 1", 0.1)),
            len("total = f(i)"),
        ),
        (LINE, len("total")),  # "total +=" is no code
    ],
)
def test_what_is_improbable_is_cut_where_the_code_is_whole(line, length):
    tokens = [ConfidentToken(text, confidence) for text, confidence in line]
    calibration = CALIBRATIONS[MODEL].while_typing
    improbable = keep_probability(tokens, 0.9, calibration)
    probable = keep_probability(tokens[:-1], None, calibration)
    text = "".join(text for text, _ in line)
    assert improbable is not None and probable is not None
    percent = round(50 * (improbable + probable))
    found = judged(answer(line), percent)
    assert found.probability == improbable
    assert found.shown_length == length
    assert "".join(token.text for token in found.tokens) == text


SURE_BODY = (("total", 0.9), *((f" + {number}", 0.9) for number in range(40)))
DOCUMENTED = 'def f(rates, i):\n    """Add them up."""\n    ‸\n'


@pytest.mark.parametrize(
    ("is_asked", "end_confidence", "is_whole"),
    [(True, 0.9, True), (True, None, False), (False, 0.9, False)],  # None: it was cut short
)
def test_a_body_that_was_asked_for_is_judged_by_how_sure_its_tokens_are(
    is_asked, end_confidence, is_whole
):
    at = plan(DOCUMENTED)
    at = asking_for_body(at, at_cursor=True) if is_asked else at
    assert (at.asked is not None) == is_asked
    filled = answer(SURE_BODY, end_confidence=end_confidence)
    found = judge(at, filled, suggestion_of(filled, at), 20)
    assert (found.shown_length == len(filled.text)) == is_whole
    assert ((found.probability or 0) >= 0.2) == is_whole


@pytest.mark.parametrize(
    ("parts", "finish", "whole"),
    [
        (("total", " =", " f(", "i", ",", " 2"), "deadline", "total"),
        (("total", " =", " f(i)", "\n    ", "if", " total"), "deadline", "total = f(i)"),
        (("total", " =", " f(i", ")"), "deadline", "total = f(i)"),
        (("total", " =", " f(", "i", ",", " 2"), "end_of_hole", None),
        (("f(", "i", ",", " 2"), "deadline", None),
        (("total", " =", " f(i)", "\n    ", "if", " total"), "max_tokens", "total = f(i)"),
        (("f(", "i", ",", " 2"), "max_tokens", None),
    ],
)
def test_a_text_that_was_cut_short_ends_where_it_is_whole(parts, finish, whole):
    at = plan()
    tokens = canvas(*((part, 0.9) for part in parts), num_settled=2)
    text = "".join(parts)
    suggestion = Suggestion(text=text, start=at.cursor, end=at.cursor)
    found = whole_part(at, filled_with(text, tokens=tokens, finish_reason=finish), suggestion)
    if finish != "end_of_hole" and whole is None:
        assert isinstance(found, NoSuggestion)
        assert (found.kind == "late") == (finish == "deadline")
    else:
        assert isinstance(found, Suggestion)
        assert found.text == (whole or text)


def test_a_text_that_ends_before_its_room_does_is_whole() -> None:
    at = plan()
    suggestion = Suggestion(text="total = f(i, 2", start=at.cursor, end=at.cursor)
    filled = filled_with("total = f(i, 2\nmore", finish_reason="max_tokens")
    assert whole_part(at, filled, suggestion) is suggestion


def test_at_no_percentage_all_is_shown_and_its_probability_is_known() -> None:
    found = judged(answer(), 0)
    assert found.shown_length == len("total += rates[i]")
    assert 0 < (found.probability or 0) < 1


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "another"},
        {"tokens": canvas(*LINE, num_settled=2), "finish_reason": "deadline"},
        {"tokens": canvas(("total += rates[i]", None))},
    ],
)
def test_without_a_calibration_that_holds_all_is_shown(changes: dict[str, Any]) -> None:
    found = judged(answer(**changes), 100)
    assert found.probability is None
    assert found.shown_length == len("total += rates[i]")


NEXT = "the| next~| value?"
SURE = {"": 0.97, "~": 0.5, "?": 0.01}


@pytest.mark.parametrize(
    ("language", "marked", "tokens", "shown"),
    [
        ("plaintext", "Read ‸", NEXT, "the next"),  # elsewhere it would be sure enough
        ("python", "x = 1  # ‸\n", NEXT, "the"),
        ("python", 'def f():\n    """‸"""\n', NEXT, "the"),
        ("python", 'def f():\n    """Add.\n\n    ‸\n    """\n    return 1\n', NEXT, "the"),
        ("javascript", "/**\n * ‸\n */\nfunction f() {}\n", NEXT, "the"),
        ("yaml", "# ‸\na: 1\n", NEXT, "the"),
        ("ini", "; ‸\na = 1\n", NEXT, "the"),
        ("vue", "<p>a</p>\n<!-- ‸ -->\n", NEXT, "the"),
        ("markdown", "```python\n# ‸\nx = 1\n```\n", NEXT, "the"),
        ("c", "/* ‸\nint a;\n", "the| sum| *|/", "the sum */"),
        ("c", "/* ‸\nint a;\n", "the| sum| *|/?", "the sum"),
        ("c", "f(/* ‸\n", "size| */| 3|);", "size */"),
        ("css", "/* ‸\na { b: c }\n", "a| list", "a list"),
        ("html", "<!-- ‸\n<p>a</p>\n", "the| title| --|>?", "the title"),
        ("python", 'def f():\n    """‸\n', 'Add| it|."|""?', "Add it"),
        ("lua", "--[[ ‸\nlocal a = 1\n", "the| sum| ]|]?", "the sum ]]"),
        ("swift", "// Ask ‸\n", "for| `|Map|`?", "for"),
        ("python", "# [(‸)\nx = 1\n", "12,| 15|),| (|14?", "12, 15"),
        ("python", "# f('a', '‸, 'c')\nx = 1\n", "the| one|',?| 'two", "the"),
        ("javascript", "// Read (‸\nf();\n", "the| list|)?|,", "the list),"),
        ("javascript", "// Read ‸\nf();\n", "the| user|'s?|list", "the"),
        ("javascript", "// ^1.2, ‸\n", "from 1.3,| ^|1.4?", "from 1.3,"),
        ("javascript", "// Reads ‸\n", "the list| of|.paths?", "the list"),
        ("rust", "//! ‸\n", 'Prints by| print|!|("{}", x)?', "Prints by"),
        ("php", "/** ‸ */\n", "by| me| <|me@a>?", "by me"),
        ("csharp", "/// <summary>‸\n", "the sum|.|</summary>?", "the sum"),
        ("go", "// Ad‸\n", "d|s", ""),  # two letters are not worth reading
        ("python", "raise ValueError('‸')\n", NEXT, "the"),
        ("go", 'return errors.New("‸")\n', NEXT, "the"),
    ],
)
def test_what_is_shown_in_prose_is_surer_than_code_and_can_stand_alone(
    language, marked, tokens, shown
):
    """Nothing that is written without a blank is cut, no quote or bracket is left open, and no code
    follows the comment."""
    assert shown_of(tokens, plan(marked, language)) == shown


def shown_of(tokens: str, at: FillPlan) -> str:
    found = re.findall(r"([^|~?]+)([~?]?)", tokens)
    filled = answer([(text, SURE[sure]) for text, sure in found])
    suggestion = suggestion_of(filled, at)
    return suggestion.text[: judge(at, filled, suggestion, 20).shown_length]


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [("../lib|/|util?", "../lib"), ("read| (|the?", "read")],
)
def test_a_string_is_not_cut_after_a_mark_that_leads_on(tokens, shown):
    assert shown_of(tokens, plan("f('‸');\n", "javascript")) == shown


@pytest.mark.parametrize(
    ("marked", "tokens", "shown"),
    [
        ("x = f(‸ + 1\n", "src|)?", "src)"),
        ("x = f(a[‸ + 1\n", "key|]|)| *| 2?", "key])"),
        ("x = f(‸\n", "src|),?| key", "src)"),
        ("x = f(‸)\n", "src|,| key?", "src"),
    ],
)
def test_a_part_has_the_bracket_that_closes_one_before_the_cursor(marked, tokens, shown):
    assert shown_of(tokens, plan(marked)) == shown


def test_an_end_that_cleaning_has_moved_is_not_the_models() -> None:
    filled, at = answer((("x = 1", 0.9), ("\n\nprint(x)", 0.9))), plan()
    assert end_confidence_of(filled, suggestion_of(filled, at)) is None
    assert end_confidence_of(answer(), suggestion_of(answer(), at)) == 0.9
    filled = answer((("  x()", 0.9), ("\n    y()", 0.9)))
    at = plan("local function f()\n  ‸\nend\n", "lua")
    assert suggestion_of(filled, at).text == "x()\n  y()"
    assert end_confidence_of(filled, suggestion_of(filled, at)) == 0.9, "only its indent differs"


@pytest.mark.parametrize(
    ("model", "percent", "expected"),
    [(MODEL, 50, True), (None, 50, True), ("another", 50, False), (MODEL, 0, False)],
)
def test_only_what_has_a_probability_may_be_hidden(model, percent, expected):
    assert may_hide(model, percent) is expected


BODY = ("total", " +=", " rates", "[i]", "\n    ", "if", " total", ":", "\n        ", "return")
FIRST = "total += rates[i]"


@pytest.mark.parametrize(
    ("num_settled", "weakest", "model", "certain"),
    [
        (3, 0.97, MODEL, "total"),  # another operand may follow
        (4, 0.97, MODEL, FIRST),
        (7, 0.97, MODEL, FIRST),
        (10, 0.97, MODEL, FIRST),  # no header without its block, no half word
        (10, 0.01, MODEL, "total"),
        (10, None, MODEL, ""),
        (10, 0.97, None, ""),
    ],
)
def test_a_draft_begins_for_certain_with_what_would_do_as_an_answer(
    num_settled, weakest, model, certain
):
    parts = [(text, weakest if text == " rates" else 0.97) for text in BODY]
    draft = canvas(*parts, num_settled=num_settled)
    found = certain_beginning(plan(), draft, (), model, 20)
    assert "".join(token.text for token in found) == certain


@pytest.mark.parametrize(
    ("last", "num_settled", "at", "model", "may"),
    [
        (0.97, 2, plan(), MODEL, True),
        (0.05, 2, plan(), MODEL, False),  # no text that begins so is probable enough
        (0.05, 1, plan(), MODEL, True),  # it may become another token yet
        (None, 2, plan(), MODEL, True),
        (0.05, 2, plan(), "another", True),
        (0.05, 2, asking_for_body(plan(DOCUMENTED), at_cursor=True), MODEL, True),  # as a whole
    ],
)
def test_a_draft_goes_on_while_more_may_be_shown(last, num_settled, at, model, may):
    draft = canvas(("total", 0.97), (" +=", last), num_settled=num_settled)
    assert may_go_on(at, draft, model, 50) is may


def test_what_is_certain_stays_so() -> None:
    known = (ConfidentToken(FIRST, 0.97),)
    assert certain_beginning(plan(), canvas(("total", 0.97)), known, MODEL, 20) == known
