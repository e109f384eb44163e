"""A selection is filled or rewritten by a scripted engine."""

import pytest
from scripted_engine import ScriptedEngine

from intarsia.engine.config import EngineConfig
from intarsia.infill.filling.fill_in_order import (
    MAX_DRAFT_CHARS,
    fill_in_order,
    fill_selection,
    rewrite_selection,
)
from intarsia.infill.filling.options import FillContext, FillOptions
from intarsia.infill.filling.outcome import Cursor, Selection
from intarsia.infill.languages import language_for_id
from intarsia.infill.suggestion import NoSuggestion

PYTHON = language_for_id("python")
TEXT = "def f(xs):\r\n    n = 0\r\n    for x in xs:\r\n        n += x\r\n    return n\r\n"
START, END = TEXT.index("    for"), TEXT.index("    return")


def context_of(engine, options=None, on_step=None):
    options = options or FillOptions()
    return FillContext(ask=engine.fill, language=PYTHON, options=options, on_step=on_step)


async def rewrite(script, text=TEXT, start=START, end=END, options=None, on_step=None):
    engine = ScriptedEngine(script)
    context = context_of(engine, options, on_step)
    filling = await rewrite_selection(context, text, Selection(start=start, end=end), 0.25)
    return engine, filling


async def select(script, *, on_step=None, **fields):
    engine = ScriptedEngine(script, **fields)
    selection = Selection(start=START, end=END)
    return engine, await fill_selection(context_of(engine, on_step=on_step), TEXT, selection)


async def test_a_selection_is_filled_as_if_nothing_stood_in_it():
    engine, filling = await select(lambda request: "    n = sum(xs)\n")
    assert filling.result == "def f(xs):\r\n    n = 0\r\n    n = sum(xs)\r\n    return n\r\n"
    (request,) = engine.requests
    assert "for x" not in request.prefix + request.suffix
    assert request.draft == ""
    assert request.min_indent == 4


async def test_a_rewrite_starts_from_the_selection_with_plain_line_ends():
    engine, filling = await rewrite(lambda request: request.draft.replace("x", "y"))
    (request,) = engine.requests
    assert request.draft == "    for x in xs:\n        n += x\n"
    assert request.noise == 0.25
    assert request.prefix.endswith("n = 0\n")
    assert request.suffix.startswith("    return n")
    assert filling.result == TEXT.replace("for x in xs", "for y in ys").replace("+= x", "+= y")


async def test_a_long_draft_fits_into_its_hole():
    text = "total = 0\n" * 200 + "\nprint(total)\n"
    engine, _ = await rewrite(lambda request: "x", text, 0, text.index("\nprint"))
    assert engine.requests[0].max_tokens >= len(text) // 2


async def test_no_draft_asks_for_more_tokens_than_an_engine_takes():
    text = "s = '" + "漢" * (MAX_DRAFT_CHARS - 10) + "'\n"
    engine, _ = await rewrite(lambda request: "x", text, 0, len(text))
    assert engine.requests[0].max_tokens <= EngineConfig().max_context_tokens


async def test_the_options_limit_a_rewrite_too():
    engine, _ = await rewrite(lambda request: "x", options=FillOptions(max_tokens=7, seed=3))
    assert (engine.requests[0].max_tokens, engine.requests[0].seed) == (7, 3)


async def test_a_text_that_stays_the_same_is_no_edit():
    _, filling = await rewrite(lambda request: request.draft)
    assert filling.refusal == NoSuggestion(reason="the model would write the same")
    assert (filling.change, filling.replacement, filling.result) == (None, None, TEXT)


@pytest.mark.parametrize(
    ("text", "reason"),
    [(" \n \n", "nothing is selected"), ("x = 1\n" * 2_000, "too long to be rewritten: 12,000")],
)
async def test_what_cannot_be_rewritten_is_refused_before_the_engine_is_asked(text, reason):
    assert len("x = 1\n" * 2_000) > MAX_DRAFT_CHARS
    engine, filling = await rewrite(lambda request: "y", text, 0, len(text))
    assert filling.refusal is not None and reason in filling.refusal.reason
    assert engine.requests == []


async def test_an_engine_that_gives_no_answer_is_the_reason():
    _, filling = await rewrite(lambda request: NoSuggestion(reason="gone"))
    assert filling.refusal == NoSuggestion(reason="gone")


async def test_a_step_is_reported_with_the_text_and_the_hole():
    told = []
    engine, _ = await rewrite(lambda request: "y", on_step=lambda *step: told.append(step))
    ((text, hole, step),) = told
    assert (text, hole.start, hole.end, step.step) == (TEXT, START, END, 1)
    assert engine.requests[0].watch


async def test_an_alternative_is_asked_for_where_the_likeliest_fill_does_not_pass():
    steps = []
    engine, filling = await select(
        lambda request: "    n = sum(xs)\n" if request.alternative else "",
        on_step=lambda *step: steps.append(step),
    )
    assert len(steps) == 1  # the draft that was shown is not taken back
    assert filling.result == "def f(xs):\r\n    n = 0\r\n    n = sum(xs)\r\n    return n\r\n"
    assert [request.alternative for request in engine.requests] == [0, 1]


async def test_where_no_answer_passes_the_reason_is_the_first_ones():
    engine, filling = await select(lambda request: "  )\n" if request.alternative else "")
    assert filling.refusal == NoSuggestion(reason="the model wrote nothing")
    assert len(engine.requests) == 2


async def test_no_alternative_is_asked_for_after_the_deadline():
    engine, filling = await select(lambda request: "", finish_reason="deadline")
    assert filling.refusal is not None
    assert len(engine.requests) == 1


async def test_the_best_candidate_that_passes_is_taken():
    others = ("  )\n", "    n = sum(xs)\n", "    n = 1\n")
    engine, filling = await select(lambda request: "", others=others)
    assert filling.result == "def f(xs):\r\n    n = 0\r\n    n = sum(xs)\r\n    return n\r\n"
    (request,) = engine.requests
    assert request.num_candidates == FillOptions().num_candidates > 1


async def test_a_cursor_and_a_rewrite_ask_for_one_candidate():
    engine = ScriptedEngine(lambda request: "n + x")
    places = [Cursor(start=TEXT.index("n += x") + 5)]
    async for _ in fill_in_order(context_of(engine), TEXT, places):
        pass
    rewriter, _ = await rewrite(lambda request: "x")
    assert [it.num_candidates for it in engine.requests + rewriter.requests] == [1, 1]


async def test_no_alternative_is_asked_for_after_several_rejected_candidates():
    engine, filling = await select(lambda request: "", others=("  )\n", ""))
    assert filling.refusal == NoSuggestion(reason="the model wrote nothing")
    assert len(engine.requests) == 1
