"""All holes of a text, or of a selection, filled or rewritten by a scripted engine."""

import pytest
from scripted_engine import ScriptedEngine, by_prefix, filled_with

from intarsia.engine.config import EngineConfig
from intarsia.engine.ipc.messages import CanvasToken, Fill, Timing
from intarsia.infill.filling.fill_places import (
    MAX_DRAFT_CHARS,
    FillProgress,
    fill_all,
    fill_in_order,
    fill_selection,
    rewrite_selection,
)
from intarsia.infill.filling.outcome import Cursor, FilledPlace, Selection
from intarsia.infill.filling.plan import Attempts, FillOptions, plan_at_cursor
from intarsia.infill.holes.find_holes import find_holes
from intarsia.infill.languages import PLAIN_TEXT, language_for_id
from intarsia.infill.replacement import Replacement, with_replaced
from intarsia.infill.suggestion import NoSuggestion

PYTHON = language_for_id("python")
TEXT = "def one():\n    ...\n\n\ndef two():\n    ...\n\n\ndef three():\n    ...\n"
ANSWERS = {"one():": "return 1", "two():": "return 22", "three():": "return 333"}


async def fill(script, text=TEXT, *, num_sweeps=2, on_progress=None, chosen=slice(None)):
    """Return the engine, the filled places, and the resulting text."""
    engine = ScriptedEngine(script)
    holes = find_holes(text, PYTHON)
    others = [hole for hole in holes if hole not in holes[chosen]]
    how = {"num_sweeps": num_sweeps, "on_progress": on_progress}
    fillings = await fill_all(engine.context(), text, holes[chosen], others, **how)
    changes = [filling.replacement for filling in fillings if filling.replacement]
    return engine, fillings, with_replaced(text, changes)


async def test_every_hole_gets_its_fill_and_nothing_else_changes():
    _, fillings, text = await fill(by_prefix(ANSWERS))
    expected = TEXT
    for answer in ANSWERS.values():
        expected = expected.replace("...", answer, 1)
    assert text == expected
    assert fillings[-1].result == expected
    assert [TEXT[slice(*filling.where)] for filling in fillings] == ["..."] * 3


async def test_fills_are_not_compared_hole_by_hole(monkeypatch: pytest.MonkeyPatch):
    """Work between two fills holds the event loop: it must not grow faster than the holes."""
    num_read, read = 0, FilledPlace.replacement.fget
    assert read is not None

    def counted(filling: FilledPlace) -> Replacement | None:
        nonlocal num_read
        num_read += 1
        return read(filling)

    monkeypatch.setattr(FilledPlace, "replacement", property(counted))
    num_holes = 20
    text = "".join(f"def f{number}():\n    ...\n\n\n" for number in range(num_holes))
    await fill(by_prefix({"():": "return 1"}), text, num_sweeps=1)
    assert num_read <= num_holes * num_holes


async def test_in_the_first_sweep_a_hole_sees_the_fills_before_it_and_no_placeholder():
    engine, _, _ = await fill(by_prefix(ANSWERS), num_sweeps=1)
    assert len(engine.requests) == 3
    second = engine.requests[1]
    assert "return 1\n" in second.prefix
    assert second.suffix == "\n\n\n"
    assert not any("..." in it.prefix + it.suffix for it in engine.requests)


async def test_in_the_second_sweep_every_hole_but_the_last_sees_all_the_others():
    engine, _, _ = await fill(by_prefix(ANSWERS))
    assert len(engine.requests) == 5
    first, second = engine.requests[3:]
    assert "return 22" in first.suffix and "return 333" in first.suffix
    assert "return 1\n" in second.prefix and "return 333" in second.suffix


@pytest.mark.parametrize(
    ("again", "kept"),
    [
        (("return 4", 0.5), "return 4"),  # as sure
        (("return 4", 0.4), "return 4"),
        (("return 4", 0.6), "return 1"),  # less sure
        (("return (((", 0.1), "return 1"),  # not clean
        (("return 2", 0.1), "return 1"),  # copied from the other hole
        (("", 0.1), "return 1"),
    ],
)
async def test_a_second_text_is_taken_when_it_is_clean_and_at_least_as_sure(again, kept):
    def script(request: Fill):
        is_first = request.prefix.rstrip().endswith("one():")
        if is_first and "return 2" in request.suffix:
            return again
        return ("return 1", 0.5) if is_first else ("return 2", 0.5)

    _, _, text = await fill(script, TEXT[: TEXT.index("\n\n\ndef three")] + "\n")
    assert text.startswith(f"def one():\n    {kept}\n")


async def test_a_hole_without_a_fill_is_tried_again_once_the_others_are_filled():
    def script(request: Fill):
        if request.prefix.rstrip().endswith("one():"):
            return "return 1" if "return 2" in request.suffix else ""
        return "return 2"

    _, fillings, text = await fill(script)
    assert "def one():\n    return 1\n" in text
    assert all(filling.refusal is None for filling in fillings)


async def test_a_hole_that_gets_no_fill_keeps_its_text_and_has_a_reason():
    answers = {**ANSWERS, "two():": ""}
    engine, fillings, text = await fill(by_prefix(answers))
    assert "def two():\n    ...\n" in text
    assert [filling.refusal and filling.refusal.reason for filling in fillings] == [
        None,
        "the model wrote nothing",
        None,
    ]
    last = engine.requests[2]
    assert "..." not in last.prefix + last.suffix


async def test_an_engine_that_gives_no_answer_is_asked_no_more():
    def script(request: Fill):
        if request.prefix.rstrip().endswith("two():"):
            return NoSuggestion(reason="the engine is gone")
        return "return 1"

    engine, fillings, text = await fill(script)
    assert len(engine.requests) == 2
    assert text == TEXT.replace("...", "return 1", 1)
    assert [filling.refusal and filling.refusal.reason for filling in fillings] == [
        None,
        "the engine is gone",
        "the engine is gone",
    ]


async def test_an_engine_that_is_gone_in_the_second_sweep_leaves_the_first():
    def script(request: Fill):
        is_second = "return" in request.suffix
        return NoSuggestion(reason="the engine is gone") if is_second else "return 1"

    _, fillings, text = await fill(script)
    assert text == TEXT.replace("...", "return 1")
    assert all(filling.refusal is None for filling in fillings)


async def test_only_the_chosen_holes_are_filled_and_the_others_are_not_seen():
    engine, fillings, text = await fill(by_prefix(ANSWERS), chosen=slice(1, 2))
    assert text == TEXT.replace("two():\n    ...", "two():\n    return 22")
    (request,) = engine.requests
    assert "..." not in request.prefix + request.suffix
    assert len(fillings) == 1


async def test_a_todo_comment_stays_above_its_fill_and_the_model_reads_it_without_the_todo():
    text = "def one():\n    pass  # TODO: the first number\n"
    engine, _, filled = await fill(by_prefix({"# the first number": "return 1"}), text)
    assert filled == "def one():\n    # TODO: the first number\n    return 1\n"
    assert "TODO" not in engine.requests[0].prefix


async def test_the_fills_have_the_line_ends_of_the_file():
    text = "def one(): ...\r\n\r\n\r\nclass A:\r\n    def two(self):\r\n        ...\r\n"
    answers = {"one():": "x = 1\n    return x", "two(self):": "x = 2\n        return x"}
    _, _, filled = await fill(by_prefix(answers), text)
    assert filled == (
        "def one():\r\n    x = 1\r\n    return x\r\n\r\n\r\n"
        "class A:\r\n    def two(self):\r\n        x = 2\r\n        return x\r\n"
    )


async def test_progress_is_reported_before_each_fill():
    told: list[FillProgress] = []
    await fill(by_prefix(ANSWERS), on_progress=told.append)
    assert [one.fraction for one in told] == [0.0, 0.2, 0.4, 0.6, 0.8]


async def test_a_text_without_holes_asks_nothing():
    engine, fillings, text = await fill(by_prefix({}), "x = 1\n")
    assert (engine.requests, fillings, text) == ([], (), "x = 1\n")


SELECTED = "def f(xs):\r\n    n = 0\r\n    for x in xs:\r\n        n += x\r\n    return n\r\n"
START, END = SELECTED.index("    for"), SELECTED.index("    return")


async def rewrite(script, text=SELECTED, start=START, end=END, **how):
    engine, selection = ScriptedEngine(script), Selection(start=start, end=end)
    return engine, await rewrite_selection(engine.context(**how), text, selection, 0.25)


async def select(script, *, on_step=None, **fields):
    engine, selection = ScriptedEngine(script, **fields), Selection(start=START, end=END)
    return engine, await fill_selection(engine.context(on_step=on_step), SELECTED, selection)


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
    assert filling.result == SELECTED.replace("for x in xs", "for y in ys").replace("+= x", "+= y")


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


@pytest.mark.parametrize(
    ("text", "reason"),
    [(" \n \n", "nothing to rewrite"), ("x = 1\n" * 2_000, "too long to be rewritten: 12,000")],
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
    assert (text, hole.start, hole.end, step.step) == (SELECTED, START, END, 1)
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


@pytest.mark.parametrize(
    ("fields", "kind", "num_asked"),
    [
        ({}, "empty", 2),
        ({"others": ("  )\n", "")}, "empty", 1),  # several were rejected
        ({"finish_reason": "deadline"}, "late", 1),
    ],
)
async def test_where_no_answer_passes_the_reason_is_the_first_ones(fields, kind, num_asked):
    engine, filling = await select(lambda it: "  )\n" if it.alternative else "", **fields)
    assert filling.refusal.kind == kind
    assert len(engine.requests) == num_asked


async def test_the_best_candidate_that_passes_is_taken():
    others = ("  )\n", "    n = sum(xs)\n", "    n = 1\n")
    engine, filling = await select(lambda request: "", others=others)
    assert filling.result == "def f(xs):\r\n    n = 0\r\n    n = sum(xs)\r\n    return n\r\n"
    (request,) = engine.requests
    assert request.num_candidates == FillOptions().num_candidates > 1


async def test_a_cursor_and_a_rewrite_ask_for_one_candidate():
    engine = ScriptedEngine(lambda request: "n + x")
    places = [Cursor(start=SELECTED.index("n += x") + 5)]
    async for _ in fill_in_order(engine.context(), SELECTED, places):
        pass
    rewriter, _ = await rewrite(lambda request: "    n = 2\n")
    assert [it.num_candidates for it in engine.requests + rewriter.requests] == [1, 1]


def test_an_alternative_that_is_only_indented_otherwise_is_none():
    plan = plan_at_cursor("def f(x):\n", len("def f(x):\n"), PYTHON, FillOptions())
    attempts = Attempts(plan.read, num_needed=3)
    answers = ["    return x", "     return x", "\treturn  x", "    return x + 1"]
    for alternative in attempts:
        attempts.take(filled_with(answers[alternative]))
    assert [each.text.strip() for each in attempts.passed] == ["return x", "return x + 1"]


@pytest.mark.parametrize(
    ("is_awaited", "writing_ms", "num_texts"), [(True, 400, 3), (True, 1_100, 1), (False, 1_100, 3)]
)
def test_after_a_second_of_writing_no_alternative_is_begun_for_a_user_who_waits(
    is_awaited, writing_ms, num_texts
):
    plan = plan_at_cursor("x = \n", len("x = "), PYTHON, FillOptions())
    attempts = Attempts(plan.read, num_needed=3, is_awaited=is_awaited)
    read_ms = 5_000  # reading is done once
    timing = Timing(queue=0, prefill=read_ms, denoise=writing_ms, total=read_ms + writing_ms)
    for alternative in attempts:
        attempts.take(filled_with(str(alternative), ms=timing))
    assert len(attempts.passed) == num_texts
    assert attempts.is_complete == (num_texts == 3)


@pytest.mark.parametrize(("confidence", "num_texts"), [(0.001, 2), (0.01, 3), (None, 3)])
def test_an_alternative_with_an_improbable_token_is_the_last_one_asked_for(confidence, num_texts):
    plan = plan_at_cursor("x = \n", len("x = "), PYTHON, FillOptions())
    attempts = Attempts(plan.read, num_needed=3)
    for alternative, certain in zip(attempts, (0.001, 0.9, confidence), strict=False):
        text = f"f{alternative}"
        tokens = (CanvasToken("f", 0.9, True), CanvasToken(str(alternative), certain, True))
        attempts.take(filled_with(text, tokens=tokens))
    assert [each.text for each in attempts.passed] == ["f0", "f1", "f2"][:num_texts]
    assert attempts.is_complete


@pytest.mark.parametrize(("text", "is_kept"), [("WH", False), ("WHERE", True), ("a", True)])
def test_an_improbable_beginning_of_a_rejected_text_ends_asking(text, is_kept):
    plan = plan_at_cursor("f(1 )\n", len("f(1 "), PLAIN_TEXT, FillOptions())
    attempts = Attempts(plan.read)
    for alternative, (written, certain) in zip(
        attempts, (('WHERE "a', 0.9), (text, 0.0001)), strict=False
    ):
        tokens = (CanvasToken(written, certain, True),)
        attempts.take(filled_with(written, tokens=tokens))
        assert (attempts.passed == ()) == (alternative == 0 or not is_kept)
    assert attempts.is_over is not is_kept


@pytest.mark.parametrize(
    ("rest", "fill", "is_kept"),
    [
        ("", ".lines", True),
        (")", ".lines", True),
        (".view", ".lines", False),
        ("(1)", "(2)", False),
        ("", "lines", False),
    ],
)
def test_a_word_of_the_menu_is_not_gone_on_with_before_a_line_that_does(rest, fill, is_kept):
    text = f"x = shop.cart{rest}\n"
    at = text.index("cart") + len("cart")
    plan = plan_at_cursor(text, at, PLAIN_TEXT, FillOptions(), is_word_whole=True)
    assert isinstance(plan.read_text(fill), NoSuggestion) is not is_kept
