"""llama.cpp's streamed text: piece by piece, and given up by closing the connection."""

from contextlib import aclosing
from pathlib import Path

import pytest
from infill_server import write_program

from intarsia_research.evaluation.systems.baseline_program import NoAnswer, Prompt, StreamingProgram
from intarsia_research.evaluation.systems.infill_stream import streamed_infill
from intarsia_research.evaluation.systems.llama_cpp import llama_cpp

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
