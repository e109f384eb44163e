"""All holes of a text, filled in two sweeps so that each fill sees the others (scripted engine)."""

import pytest
from scripted_engine import ScriptedEngine, by_prefix

from intarsia.engine.ipc.messages import Fill
from intarsia.infill.filling.fill_all import FillProgress, fill_all
from intarsia.infill.filling.options import FillContext, FillOptions
from intarsia.infill.filling.outcome import FilledPlace
from intarsia.infill.holes.find_holes import find_holes
from intarsia.infill.languages import language_for_id
from intarsia.infill.replacement import Replacement, with_replaced
from intarsia.infill.suggestion import NoSuggestion

PYTHON = language_for_id("python")
TEXT = "def one():\n    ...\n\n\ndef two():\n    ...\n\n\ndef three():\n    ...\n"
ANSWERS = {"one():": "return 1", "two():": "return 22", "three():": "return 333"}


async def fill(script, text=TEXT, *, num_sweeps=2, on_progress=None, chosen=slice(None)):
    """Return the engine, the filled places, and the resulting text."""
    engine = ScriptedEngine(script)
    holes = find_holes(text, PYTHON)
    context = FillContext(ask=engine.fill, language=PYTHON, options=FillOptions())
    others = [hole for hole in holes if hole not in holes[chosen]]
    fillings = await fill_all(
        context, text, holes[chosen], others, num_sweeps=num_sweeps, on_progress=on_progress
    )
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
