"""A baseline's text as two systems: its own, and cleaned by us."""

from collections.abc import Callable
from contextlib import AsyncExitStack

from sample_cases import case
from scripted_program import ScriptedProgram, refuse

from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.system import System
from intarsia_research.evaluation.systems.baseline import Baseline
from intarsia_research.evaluation.systems.baseline_program import Prompt


def case_of(prefix: str, suffix: str) -> Case:
    return case(prefix, suffix=suffix, kind="line")


CASE = case_of("def f(a):\n    b = a\n    ", "\n\nprint(f(1))\n")


def baseline_of(program: ScriptedProgram) -> Baseline:
    return Baseline(name="scripted", way="a table", model="none", start=program.started)


async def fills(
    answer: Callable[[Prompt], str], hole: Case
) -> tuple[ScriptedProgram, list[Answer]]:
    """Fill one case with the program's own text, then cleaned."""
    program = ScriptedProgram(answer)
    baseline = baseline_of(program)
    systems: list[System] = [baseline.system(cleans=it) for it in (False, True)]
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(it.ready()) for it in systems]
        return program, [await client.fill(hole) for client in clients]


async def test_it_sees_the_text_round_the_hole_whole_and_what_ends_it():
    program, _ = await fills(lambda prompt: "", case_of("def f(a):\n    ret", "\n\nprint(f(1))\n"))
    assert program.prompts == [
        Prompt(prefix="def f(a):\n    ret", suffix="\n\nprint(f(1))\n", stop=("\n",), max_tokens=96)
    ]


async def test_at_a_file_s_end_it_sees_a_line_s_end():
    program, _ = await fills(lambda prompt: "", case_of("x = ", ""))
    assert program.prompts[0].suffix == "\n"


async def test_its_own_text_ends_at_a_stop_text():
    _, (own, _) = await fills(lambda prompt: "return a  \nb = 1", CASE)
    assert own.text == "return a  "


async def test_the_other_system_cleans_the_text():
    _, (own, cleaned) = await fills(lambda prompt: "return a  <|fim_pad|>", CASE)
    assert own.text == "return a  <|fim_pad|>"
    assert cleaned.text == "return a"


async def test_what_cleaning_leaves_nothing_of_has_a_reason():
    _, (own, cleaned) = await fills(lambda prompt: "<|fim_pad|>", CASE)
    assert own.text == "<|fim_pad|>"
    assert own.reason is None
    assert cleaned.text == ""
    assert cleaned.reason is not None
    assert not cleaned.is_failure


async def test_a_file_s_own_line_ends_come_back():
    crlf = case_of("def f(a):\r\n", "\r\n\r\nprint(f(1))\r\n")
    program, (own, cleaned) = await fills(lambda prompt: "    if a:\n        return a", crlf)
    assert "\r" not in program.prompts[0].prefix + program.prompts[0].suffix
    assert own.text == "    if a:\r\n        return a"
    assert cleaned.text == "    if a:\r\n        return a"


async def test_a_hole_without_an_answer_is_a_failure():
    _, answers = await fills(refuse, CASE)
    assert [answer.is_failure for answer in answers] == [True, True]
    assert [answer.reason for answer in answers] == ["it is too hot"] * 2


async def test_a_place_where_we_fill_nothing_is_not_asked_for():
    program, (own, _) = await fills(lambda prompt: "x", case_of("x = '\0", "'\n"))
    assert program.prompts == []
    assert own.reason is not None
    assert not own.is_failure


async def test_both_share_one_program_and_one_answer():
    program, (own, cleaned) = await fills(lambda prompt: "return a", CASE)
    assert (program.num_starts, len(program.prompts)) == (1, 1)
    assert not program.is_running
    assert own.num_forwards == cleaned.num_forwards == 3
    assert own.engine_ms == cleaned.engine_ms == 7.0
    assert own.read_ms == cleaned.read_ms == 2.0
    assert (own.num_tokens, own.num_read) == (4, 50)


async def test_it_runs_until_the_last_system_is_done_and_can_run_again():
    program = ScriptedProgram(lambda prompt: "return a")
    baseline = baseline_of(program)
    async with baseline.system(cleans=True).ready() as first:
        async with baseline.system(cleans=False).ready():
            pass
        assert program.is_running
        await first.fill(CASE)
    assert not program.is_running
    async with baseline.system(cleans=True).ready() as again:
        await again.fill(CASE)
    assert program.num_starts == 2
