"""llama.cpp's server as a baseline: how it is started and asked, and what goes wrong."""

import json
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest
from infill_server import write_program
from sample_cases import case

from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.systems import llama_cpp as module
from intarsia_research.evaluation.systems.baseline_program import NoAnswer, Prompt, StreamingProgram
from intarsia_research.evaluation.systems.infill_stream import streamed_infill
from intarsia_research.evaluation.systems.llama_cpp import (
    PROGRAM_VARIABLE,
    find_llama_server,
    llama_cpp,
)

CASE = case("def f(a):\n    ", "return a", "\n\nprint(f(1))\n", kind="line")


async def fill(folder: Path, behaviour: str) -> Answer:
    baseline = llama_cpp(write_program(folder), folder / f"{behaviour}.gguf", model="toy")
    async with baseline.system(cleans=False).ready() as client:
        assert client.info.details["build"] == "b1-stand-in"
        return await client.fill(CASE)


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
    assert answer.reason is not None
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
    tmp_path: Path, monkeypatch
):
    program = write_program(tmp_path)
    monkeypatch.delenv(PROGRAM_VARIABLE, raising=False)
    assert find_llama_server(program) == program
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_llama_server(None) == program
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv(PROGRAM_VARIABLE, str(program))
    assert find_llama_server(None) == program


def test_no_program_is_one_line_that_says_what_to_do(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(PROGRAM_VARIABLE, raising=False)
    with pytest.raises(EvaluationFault, match="no program llama-server: build it") as caught:
        find_llama_server(None)
    assert "\n" not in str(caught.value)


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
