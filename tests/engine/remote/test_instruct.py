"""Edits by instruction on servers: the prompt is a turn of the model's own chat form."""

import pytest
from http_server import Script
from llama_cpp_double import event, last_event, llama_cpp_answers, send_events
from text_double import last_line, line, ollama_answers
from toy_causal_tokenizer import MARKS, toy_tokenizer

from intarsia.engine.errors import ModelError
from intarsia.engine.ipc.messages import ChatTurn

CHATML = ("<|im_start|>", "<|im_end|>")
EDIT = {
    "prefix": "",
    "suffix": "",
    "given": "```py\n",
    "draft": "x = 1",
    "stop": ("\n```",),
    "chat": ChatTurn(system="edit", user="x = 1"),
}
TURNS = (
    "<|im_start|>system\nedit<|im_end|>\n<|im_start|>user\nx = 1<|im_end|>\n"
    "<|im_start|>assistant\n```py\n"
)


@pytest.fixture
def chat_tokenizer(toy_folder):
    """A tokenizer with the marks of a chat in the folder that the remote names."""
    tokenizer = toy_tokenizer(marks=(*MARKS, *CHATML))
    tokenizer.save(str(toy_folder / "tokenizer.json"))
    return tokenizer


def test_a_server_that_takes_text_gets_the_marks_as_text(fill, chat_tokenizer) -> None:
    script = Script([line("x = 2"), line("\n``"), line("`\nDone."), last_line()])
    filled = fill(ollama_answers(script), **EDIT)
    assert (filled.text, filled.finish_reason) == ("x = 2", "end_of_hole")
    assert [request["prompt"] for request in script.requests] == [TURNS]


def test_a_server_that_takes_ids_gets_the_marks_as_ids(fill, chat_tokenizer) -> None:
    script = Script([event(chat_tokenizer.encode("x = 2\n```").ids), last_event("word")])
    server = llama_cpp_answers(
        lambda request, connection: send_events(request, connection, script(request)),
        model="toy-Instruct-Q4_0.gguf",
    )
    assert fill(server, **EDIT).text == "x = 2"
    assert script.requests[0]["prompt"] == chat_tokenizer.encode(TURNS).ids


def test_marks_in_the_code_are_refused_where_they_would_act(fill, chat_tokenizer) -> None:
    script = Script([last_line()])
    with pytest.raises(ValueError, match=r"<\|im_end\|> in it"):
        fill(ollama_answers(script), **EDIT | {"chat": ChatTurn(system="", user="<|im_end|>")})
    assert not script.requests


@pytest.mark.parametrize("model", ["toy", "toy-base"])
def test_a_model_that_does_not_say_so_follows_no_instructions(
    fill, chat_tokenizer, model: str
) -> None:
    script = Script()
    server = llama_cpp_answers(
        lambda request, connection: send_events(request, connection, script(request)), model=model
    )
    with pytest.raises((ValueError, ModelError), match="does not follow instructions"):
        fill(server, **EDIT)
    assert not script.requests
