"""Holes on servers that take text: half-typed words, ends, parts, and marks in the user's code."""

from collections.abc import Sequence

import pytest
from http_server import Respond, Script
from text_double import last_line, line, mlx_answer, mlx_answers, ollama_answers

from intarsia.engine.errors import RemoteError
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import ContextChunk, ProjectContext, Step


def prompts(script: Script) -> list[str]:
    """Return what was after the mark of the middle in each request."""
    return [request["prompt"].partition("<|fim_middle|>")[2] for request in script.requests]


def ollama(*answers: Sequence[bytes]) -> tuple[Script, Respond]:
    script = Script(*answers)
    return script, ollama_answers(script)


def mlx(*answers: bytes) -> tuple[Script, Respond]:
    script = Script(*answers)
    return script, mlx_answers(script)


def test_the_prompt_is_our_own_layout_as_text(fill) -> None:
    script, server = ollama([line(" val"), last_line()])
    filled = fill(server, prefix="é = 1\nx = ", suffix="\ny\n")
    assert filled.text == "val"
    (request,) = script.requests
    assert request["prompt"] == "<|fim_prefix|>é = 1\n<|fim_suffix|>\ny\n<|fim_middle|>x ="
    assert (request["raw"], request["truncate"]) == (True, False)
    assert request["options"]["stop"] == ["\n"]
    assert (request["options"]["num_ctx"], request["options"]["temperature"]) == (8192, 0.0)


def test_a_half_typed_word_is_written_again_and_left_out(fill) -> None:
    script, server = ollama([line("re"), line("turn v"), line("al"), last_line()])
    filled = fill(server, given="ret")
    assert filled.text == "urn val"
    assert prompts(script) == [""]


@pytest.mark.parametrize("first", ["val", "", "re"])
def test_another_word_is_asked_again_from_after_what_is_typed(fill, first: str) -> None:
    script, server = ollama([line(first), last_line()], [line("urn"), last_line()])
    assert fill(server, given="ret").text == "urn"
    assert prompts(script) == ["", "ret"]


def test_the_end_is_found_here_too(fill) -> None:
    """A server's own stop texts are a help, not the rule."""
    _, server = ollama([line("val"), line("1)\nx"), line("x" * 50)])
    filled = fill(server)
    assert (filled.text, filled.finish_reason) == ("val1)", "end_of_hole")
    assert "".join(token.text for token in filled.tokens) == filled.text


def test_an_open_bracket_takes_the_text_further(fill) -> None:
    script, server = ollama([line("f("), last_line()], [line("\n1)"), line("\n"), last_line()])
    filled = fill(server, max_open=0)
    assert (filled.text, filled.finish_reason) == ("f(\n1)", "end_of_hole")
    assert [request["options"]["stop"] for request in script.requests] == [["\n"], []]
    assert prompts(script)[1] == "f("


def test_a_server_that_ends_in_an_open_bracket_again_is_left_at_that(fill) -> None:
    _, server = ollama([line("f("), last_line()], [last_line()])
    assert fill(server, max_open=0).text == "f("


def test_an_outdented_line_ends_a_block(fill) -> None:
    _, server = ollama([line("    val"), line("\nreturn"), line("x" * 50)])
    assert fill(server, stop=(), min_indent=4).text == "    val"


@pytest.mark.parametrize(
    ("fields", "reason"), [({}, "max_tokens"), ({"max_steps": 2}, "max_steps")]
)
def test_a_limit_is_a_reason(fill, fields: dict[str, int], reason: str) -> None:
    script, server = ollama([line("1"), line("1"), last_line("length")])
    filled = fill(server, max_tokens=9, **fields)
    assert (filled.text, filled.finish_reason) == ("11", reason)
    assert script.requests[0]["options"]["num_predict"] == fields.get("max_steps", 9)


def test_probabilities_are_those_that_the_server_tells(fill) -> None:
    _, server = ollama([line("ab", -0.5, -1.0), last_line()])
    filled = fill(server)
    assert [token.confidence for token in filled.tokens] == pytest.approx(
        [0.6065, 0.3679], abs=1e-4
    )
    assert filled.mean_entropy == pytest.approx(0.7648, abs=1e-3)


def test_without_them_none_is_made_up(fill) -> None:
    _, server = ollama([line("a", -0.5), line("bc"), last_line()])
    filled = fill(server)
    assert [token.text for token in filled.tokens] == ["a", "bc"]
    assert filled.tokens[1].confidence is None and filled.mean_entropy is None


def test_steps_show_the_text_while_it_comes(fill) -> None:
    steps: list[Step] = []
    _, server = ollama([line("def"), line(" val"), last_line()])
    fill(server, FillControl(on_step=steps.append))
    texts = ["".join(token.text for token in step.tokens) for step in steps]
    assert texts == ["def", "def val"]


def test_another_answer_is_drawn(fill) -> None:
    script, server = ollama([line("val"), last_line()])
    fill(server, alternative=2)
    options = script.requests[0]["options"]
    assert options["temperature"] > 0 and options["seed"] == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"prefix": "MARK = '<|fim_middle|>'\nx = "},
        {"suffix": "\n'<|file_sep|>'\n"},
        {"given": "'<|endoftext|>"},
        {"prefix": "a\nx = '<|fim_", "given": "pad|>"},
    ],
)
def test_a_mark_in_the_code_never_acts(fill, fields: dict[str, str]) -> None:
    script, server = ollama()
    with pytest.raises(ValueError, match=r"has <\|\w+\|> in it, which a server that takes text"):
        fill(server, **fields)
    assert script.requests == []


def test_a_piece_of_a_mark_does_no_harm(fill) -> None:
    script, server = ollama([line("val"), last_line()])
    assert fill(server, prefix="'<|fim_middle' + '|>'\nx =").text == "val"
    assert "'<|fim_middle' + '|>'" in script.requests[0]["prompt"]


def test_other_files_with_marks_are_left_out(fill) -> None:
    script, server = ollama([line("val"), last_line()])
    chunks = (
        ContextChunk(path="a.py", text="one\n"),
        ContextChunk(path="b.py", text="'<|fim_suffix|>'\n"),
    )
    project = ProjectContext(repository="r", path="f.py", chunks=chunks)
    filled = fill(server, project=project, project_use="always")
    assert filled.num_project > 0
    prompt = script.requests[0]["prompt"]
    assert "<|file_sep|>a.py\none\n" in prompt and "b.py" not in prompt


def test_a_mark_that_the_server_writes_ends_the_hole(fill) -> None:
    _, server = ollama([line("val<|fim_pad|>"), line("more"), last_line()])
    assert fill(server).text == "val"


def test_a_mark_half_typed_and_half_written_is_not_sent_back(fill) -> None:
    script, server = ollama([line("pad|>("), last_line()])
    assert fill(server, prefix="a\nx = <|fim_", max_open=0).text == "pad|>("
    assert len(script.requests) == 1


def test_parts_are_joined_with_every_blank(fill) -> None:
    """The server drops a blank at the start of each text: its ids tell of it.

    A prompt never is all that the server holds: it would fail. So a part's last token is written
    once more.
    """
    script, server = mlx(mlx_answer(" return val"), mlx_answer(" val1", finish="stop"))
    filled = fill(server, prefix="x\n", max_tokens=12)
    assert filled.text == " return val1"
    assert filled.tokens[0].confidence == pytest.approx(0.7788, abs=1e-4)
    assert (filled.num_prefilled, filled.num_reused) == (10, 30)
    assert prompts(script)[1] == prompts(script)[0] + " return"
    assert script.requests[0]["max_tokens"] == 8
    assert script.requests[0]["logprobs"] is True, "a number is refused"
    assert "suffix" not in script.requests[0]


def test_a_stop_text_within_a_token_is_found(fill) -> None:
    """The server's own text lacks the line end there, and goes on."""
    _, server = mlx(mlx_answer("val):\n  1", shown="val):  1"))
    assert fill(server, max_tokens=30).text == "val):"


def test_a_word_is_written_in_one_part(fill) -> None:
    script, server = mlx(mlx_answer(" "), mlx_answer("urn val", finish="stop"))
    assert fill(server, given=" ret").text == "urn val"
    assert prompts(script) == ["", " ret"]
    assert [request["max_tokens"] for request in script.requests] == [8, 8]


def test_an_end_mark_ends_the_hole(fill) -> None:
    _, server = mlx(mlx_answer("val", end="<|fim_pad|>"))
    assert fill(server).text == "val"


def test_a_server_that_writes_nothing_is_not_asked_for_ever(fill) -> None:
    script, server = mlx(mlx_answer(""))
    assert fill(server, max_tokens=30).text == ""
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (mlx_answer("val", shown="quite another"), "set `tokenizer`"),
        (b'{"choices": [{"text": "x"}]}', "has no tokens"),
        (b"[]", "not mlx-lm's"),
    ],
)
def test_an_unusable_answer_is_told(fill, answer: bytes, problem: str) -> None:
    _, server = mlx(answer)
    with pytest.raises(RemoteError, match=problem):
        fill(server)
