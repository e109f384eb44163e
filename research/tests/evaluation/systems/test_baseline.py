"""Baselines: llama.cpp's server, and a text as two systems, its own and cleaned by us."""

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest
from infill_server import write_program
from sample_cases import case

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.system import System
from intarsia_research.evaluation.systems import llama_cpp as module
from intarsia_research.evaluation.systems.baseline import Baseline
from intarsia_research.evaluation.systems.baseline_program import (
    NoAnswer,
    Program,
    Prompt,
    StreamingProgram,
    Written,
)
from intarsia_research.evaluation.systems.infill_stream import streamed_infill
from intarsia_research.evaluation.systems.llama_cpp import (
    PROGRAM_VARIABLE,
    find_llama_server,
    llama_cpp,
)


class ScriptedProgram:
    """``answer`` gives the text for a prompt, or raises."""

    def __init__(self, answer: Callable[[Prompt], str]) -> None:
        self._answer = answer
        self.prompts: list[Prompt] = []
        self.num_starts = 0
        self.is_running = False
        self.details: Mapping[str, str] = {"version": "1"}
        self.pid = os.getpid()

    @asynccontextmanager
    async def started(self) -> AsyncIterator[Program]:
        self.num_starts += 1
        self.is_running = True
        try:
            yield self
        finally:
            self.is_running = False

    async def write(self, prompt: Prompt) -> Written:
        self.prompts.append(prompt)
        return Written(
            text=self._answer(prompt),
            ms=7.0,
            read_ms=2.0,
            num_forwards=3,
            num_tokens=4,
            num_read=50,
        )


def case_of(prefix: str, suffix: str) -> Case:
    return case(prefix, suffix=suffix, kind="line")


CASE = case_of("def f(a):\n    b = a\n    ", "\n\nprint(f(1))\n")


def baseline_of(program: ScriptedProgram) -> Baseline:
    return Baseline(name="scripted", way="a table", model="none", start=program.started)


async def fills(answer, hole) -> tuple[ScriptedProgram, list[Answer]]:
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
    _, answers = await fills(Mock(side_effect=NoAnswer("it is too hot")), CASE)
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


CASE_OF_F = case("def f(a):\n    ", "return a", "\n\nprint(f(1))\n", kind="line")


async def fill(folder: Path, behaviour: str) -> Answer:
    baseline = llama_cpp(write_program(folder), folder / f"{behaviour}.gguf", model="toy")
    async with baseline.system(cleans=False).ready() as client:
        assert client.info.details["build"] == "b1-stand-in"
        return await client.fill(CASE_OF_F)


def children() -> set[int]:
    """Those of earlier tests may be among them, and may end meanwhile."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


@pytest.mark.parametrize("behaviour", ["good", "slow"])
async def test_it_is_asked_for_the_likeliest_fill_of_the_same_text(tmp_path: Path, behaviour: str):
    answer = await fill(tmp_path, behaviour)
    assert json.loads(answer.text) == {
        "path": "/infill",
        "input_prefix": "def f(a):\n    ",
        "input_suffix": "\n\nprint(f(1))\n",
        "n_predict": 128,
        "stop": ["\nprint(f(1))\n"],
        "temperature": 0,
        "cache_prompt": True,
    }
    assert (answer.num_forwards, answer.num_tokens) == (4, 4)
    assert (answer.num_read, answer.num_reused) == (30, 10)
    assert (answer.engine_ms, answer.read_ms) == (5.0, 2.0)
    assert not answer.is_failure


async def test_the_server_ends_with_the_system(tmp_path: Path):
    before = children()
    baseline = llama_cpp(write_program(tmp_path), tmp_path / "good.gguf")
    async with baseline.system(cleans=True).ready():
        assert len(children() - before) == 1
    assert children() <= before


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("picky", "llama-server refused the hole (status 400): "),
        ("babbling", "llama-server's answer cannot be read: "),
    ],
)
async def test_a_hole_that_it_does_not_fill_is_a_failure(tmp_path, behaviour: str, reason: str):
    answer = await fill(tmp_path, behaviour)
    assert answer.is_failure
    assert answer.reason.startswith(reason)


async def test_a_server_that_does_not_start_is_a_fault_with_its_last_words(tmp_path: Path):
    with pytest.raises(EvaluationFault, match=r"ended \(exit code 1\): error: the model has no h"):
        await fill(tmp_path, "broken")


async def test_a_server_that_ends_between_two_holes_is_a_fault(tmp_path: Path):
    with pytest.raises(EvaluationFault, match=r"ended \(exit code 9\): Segmentation fault"):
        await fill(tmp_path, "mortal")


async def test_a_server_that_never_loads_is_a_fault(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(module, "_START_TIMEOUT_S", 0.0)
    before = children()
    with pytest.raises(EvaluationFault, match="did not load"):
        await fill(tmp_path, "slow")
    assert children() <= before


async def test_a_file_that_is_no_program_is_a_fault(tmp_path: Path):
    program = tmp_path / "llama-server"
    program.write_bytes(b"\x7fELF no more")
    program.chmod(0o755)
    baseline = llama_cpp(program, tmp_path / "good.gguf")
    with pytest.raises(EvaluationFault, match="cannot be started"):
        async with baseline.system(cleans=True).ready():
            pass


def test_the_program_is_named_by_the_user_or_the_environment_or_lies_on_the_path(
    tmp_path, monkeypatch
):
    program = write_program(tmp_path)
    monkeypatch.delenv(PROGRAM_VARIABLE, raising=False)
    assert find_llama_server(program) == program
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_llama_server(None) == program
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv(PROGRAM_VARIABLE, str(program))
    assert find_llama_server(None) == program


PROMPT = Prompt(prefix="def f(a):\n    ret", suffix="\n", stop=("\n",), max_tokens=9)


async def pieces_of(folder: Path, behaviour: str, most: int = 100) -> list[str]:
    """Take so many pieces at most, then ask once more: the program must still answer."""
    baseline = llama_cpp(write_program(folder), folder / f"{behaviour}.gguf")
    async with baseline.running() as program:
        assert isinstance(program, StreamingProgram)
        taken: list[str] = []
        async with aclosing(program.stream(PROMPT)) as pieces:
            async for piece in pieces:
                taken.append(piece)
                if len(taken) == most:
                    break
        async with aclosing(program.stream(PROMPT)) as pieces:
            assert [piece async for piece in pieces][: len(taken)] == taken
        return taken


async def test_the_text_comes_in_pieces_and_the_begun_line_goes_behind_the_suffix(tmp_path: Path):
    pieces = await pieces_of(tmp_path, "good")
    assert pieces == ["def f(a):\n", "|", "    ret", "|", "\n", ""]


async def test_a_text_may_be_given_up(tmp_path: Path):
    assert await pieces_of(tmp_path, "good", most=1) == ["def f(a):\n"]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("picky", r"refused the hole \(status 400\)"),
        ("babbling", "answer cannot be read"),
        ("mortal", "ended its answer early"),
    ],
)
async def test_what_is_no_text_is_no_answer(tmp_path: Path, behaviour: str, reason: str):
    with pytest.raises(NoAnswer, match=reason):
        await pieces_of(tmp_path, behaviour)


async def test_nobody_who_listens_is_no_answer(unused_tcp_port: int):
    with pytest.raises(NoAnswer, match="cannot be reached"):
        async for _ in streamed_infill("127.0.0.1", unused_tcp_port, b"{}"):
            pass
