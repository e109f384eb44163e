"""Edits by instruction: what a model is asked, and what becomes of its answers."""

import pytest
from marked_text import read_marked
from scripted_engine import ScriptedEngine

from intarsia.engine.ipc.messages import Fill
from intarsia.infill.filling.instruct import (
    MAX_INSTRUCTION_CHARS,
    MAX_SELECTED_CHARS,
    code_of,
    instruct_selection,
)
from intarsia.infill.filling.outcome import FilledPlace, Selection
from intarsia.infill.suggestion import NoSuggestion

METHOD = "class A:\n    x = 1\n\n    ║def f(self):\n        return 1║\n\n    y = 2\n"


async def instruct(
    marked, *answers, instruction="make it async", language="python", **engine
) -> tuple[FilledPlace, list[Fill]]:
    """Return the place after the engine's answers, of which the last one is repeated."""
    source, left = read_marked(marked), list(answers)
    engine = ScriptedEngine(lambda request: left.pop(0) if len(left) > 1 else left[0], **engine)
    selection = Selection(start=source.start, end=source.end)
    place = await instruct_selection(engine.context(language), source.text, selection, instruction)
    return place, engine.requests


async def test_the_model_is_shown_selection_surroundings_and_instruction():
    _, (request,) = await instruct(METHOD, "async def f(self):\n    return 1")
    assert request.chat is not None
    user = request.chat.user
    assert "```python\ndef f(self):\n    return 1\n```" in user, "at the left edge"
    assert "class A:\n    x = 1\n```" in user and "```python\n    y = 2\n```" in user
    assert user.index("x = 1") < user.index("y = 2") < user.index("Instruction: make it async")
    assert (request.given, request.stop) == ("```python\n", ("\n```",))
    assert request.draft == "def f(self):\n    return 1"
    assert request.prefix == request.suffix == ""


@pytest.mark.parametrize(
    ("marked", "answer", "result"),
    [
        # the selection's indentation comes back, whatever the answer's is
        (METHOD, "async def f(self):\n    return 1", "    async def f(self):\n        return 1"),
        (
            METHOD,
            "  async def f(self):\n      return 1\n",
            "    async def f(self):\n        return 1",
        ),
        # what is around the selection is left out
        (
            METHOD,
            "x = 1\n\ndef g(self):\n    return 2\n\ny = 2",
            "    def g(self):\n        return 2",
        ),
        (
            METHOD,
            "class A:\n    x = 1\n\n    def g(self):\n        return 2",
            "    def g(self):\n        return 2",
        ),
        (
            METHOD,
            "class A:\n    def g(self):\n        return 2",
            "    def g(self):\n        return 2",
        ),
        ("x = f(║1║)\n", "x = f(2)", "2"),
        # a block of its own, with words before and after it
        ("║x = 1║\n", "Here it is:\n```python\nx = 2\n```\nDone.", "x = 2"),
        # line ends and tabs are the file's
        ("a = 1\r\n║b = 2║\r\nc = 3\r\n", "b = 3\nd = 4", "b = 3\r\nd = 4"),
        (
            "class A:\n\t║def f(self):\n\t\treturn 1║\n",
            "def f(self):\n    if x:\n        return 1",
            "\tdef f(self):\n\t\tif x:\n\t\t\treturn 1",
        ),
        ("if x:\n  ║a()║\n", "if y:\n\ta()", "  if y:\n    a()"),
        # a line end that is selected stays
        ("║x = 1\n║y = 2\n", "x = 3", "x = 3"),
        # a string of several lines at the left edge is not moved
        ("    ║s = '''\nab\n'''║\n", "    s = '''\ncd\n'''", "    s = '''\ncd\n'''"),
        # an error that was there before is no reason
        ("def f(:\n    pass\n\n║x = 1║\n", "x = 2", "x = 2"),
    ],
)
async def test_an_answer_becomes_the_selection(marked: str, answer: str, result: str):
    place, _ = await instruct(marked, answer)
    assert place.change is not None, place.refusal
    assert place.change.new == result
    source = read_marked(marked)
    before, after = source.text[: place.change.start], source.text[place.change.end :]
    assert place.result == before + result + after
    assert before.rstrip() == source.text[: source.start].rstrip(), "nothing else is replaced"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "no code"),
        ("\n\n", "no code"),
        ("def f(self):\n    return 1", "leave the selection as it is"),
        ("def f(self):\n    return (1", "would not parse"),
        ("def f(self):\n    return '\u202e'", "hidden character"),
        ("x = 1\n\ny = 2", "no code"),  # only what is around it
    ],
)
async def test_an_answer_that_cannot_stand_is_asked_for_anew_then_refused(answer, reason):
    place, requests = await instruct(METHOD, answer)
    assert place.change is None and place.refusal is not None
    assert reason in place.refusal.reason
    assert [request.alternative for request in requests] == [0, 1]
    better, _ = await instruct(METHOD, answer, "async def f(self):\n    return 1")
    assert better.change is not None


async def test_a_name_that_the_file_uses_is_lost_only_by_instruction():
    marked = "║def total(x):\n    return x║\n\nprint(total(1))\n"
    lost, _ = await instruct(marked, "def other(x):\n    return x", instruction="tidy up")
    assert lost.refusal is not None and "`total`" in lost.refusal.reason
    wanted, _ = await instruct(
        marked, "def other(x):\n    return x", instruction="rename total to other"
    )
    assert wanted.change is not None


@pytest.mark.parametrize(
    ("finish", "reason"), [("max_tokens", "longer"), ("deadline", "time"), ("max_steps", "passes")]
)
async def test_half_an_answer_is_none(finish, reason):
    answer = "async def f(self):\n    return 1"
    place, requests = await instruct(METHOD, answer, finish_reason=finish)
    assert place.refusal is not None and reason in place.refusal.reason
    assert len(requests) == (1 if finish == "deadline" else 2)


@pytest.mark.parametrize(
    ("marked", "instruction", "reason"),
    [
        ("x = 1║\n", "make it async", "nothing to edit"),
        ("x = 1║\n  \n║", "make it async", "nothing to edit"),
        ("║x = 1║", " \n", "no instruction"),
        (f"║x = '{'a' * MAX_SELECTED_CHARS}'║", "cut it", "selection is too long"),
        ("║x = 1║", "a" * (MAX_INSTRUCTION_CHARS + 1), "instruction is too long"),
    ],
)
async def test_nothing_is_asked_where_nothing_can_be_answered(marked, instruction, reason):
    place, requests = await instruct(marked, "x = 2", instruction=instruction)
    assert place.refusal is not None and reason in place.refusal.reason
    assert not requests


async def test_an_engine_without_an_answer_gives_its_reason():
    reason = NoSuggestion(reason="it follows no instructions")
    place, _ = await instruct("║x = 1║", reason, instruction="double it")
    assert place.refusal == reason


async def test_fences_of_the_code_end_no_block():
    marked = "# Title\n\n```python\n║x = 1║\n```\n\n````\nodd\n````\n"
    place, (request,) = await instruct(marked, "x = 2\n", language="markdown")
    assert place.change is not None and place.change.new == "x = 2"
    assert request.given == "`````python\n", "its own language, and a longer fence"
    assert request.stop == ("\n`````",)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("x = 1", "x = 1"),
        ("\nx = 1\n", "x = 1"),
        ("x = 1\n```", "x = 1"),
        ("```\nx = 1", "x = 1"),
        ("```py\nx = 1\n```\n\n```py\ny = 2\n```", "x = 1"),
        ("Sure:\n\n````python\n```\nx\n```\n````", "```\nx\n```"),
        ("```\n```", ""),
    ],
)
def test_the_first_block_is_the_answer(answer: str, code: str):
    assert code_of(answer) == code
