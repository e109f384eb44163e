"""Where a hole ends, and what is asked of the server for it."""

import socket
from typing import Any

import pytest
from http_server import Respond, Script, serving
from llama_cpp_double import event, last_event, llama_cpp_answers, send_events
from text_double import last_line, line, ollama_answers
from toy_causal_tokenizer import MARKS, toy_tokenizer

from intarsia.engine.errors import ModelError, RemoteError
from intarsia.engine.families.masked_causal.context_boundary import MAX_CHARS_AFTER
from intarsia.engine.fill_control import NO_CONTROL, FillControl
from intarsia.engine.ipc.messages import ChatTurn, Fill, Step
from intarsia.engine.remote.dialects.llama_cpp import grammar_beginning

END = toy_tokenizer().token_to_id("<|endoftext|>")


def ids(text: str) -> list[int]:
    return toy_tokenizer().encode(text).ids


class LlamaScript(Script):
    """Answers each request with the next row of events, and notes the requests."""

    @property
    def respond(self) -> Respond:
        return llama_cpp_answers(
            lambda request, connection: send_events(request, connection, self(request))
        )


def test_a_stop_text_is_the_servers_to_find(fill) -> None:
    script = LlamaScript([event(ids("val")), event(ids("\n")), last_event("word")])
    filled = fill(script.respond)
    assert (filled.text, filled.finish_reason) == ("val", "end_of_hole")
    (request,) = script.requests
    assert request["stop"] == ["\n"]
    assert (request["temperature"], request["samplers"]) == (0.0, ["temperature"])


def test_an_open_bracket_takes_the_text_further(fill) -> None:
    script = LlamaScript(
        [event(ids("f(")), event(ids("\n")), last_event("word")],
        [event(ids("1)")), event(ids("\n")), last_event("limit")],
    )
    filled = fill(script.respond, max_open=0)
    assert (filled.text, filled.finish_reason) == ("f(\n1)", "end_of_hole")
    assert [request["stop"] for request in script.requests] == [["\n"], []]
    first, second = (request["prompt"] for request in script.requests)
    assert second == [*first, *ids("f("), *ids("\n")]


def test_no_end_token_is_taken_in_an_open_bracket(fill) -> None:
    script = LlamaScript(
        [event(ids("f(")), event([END]), last_event("eos")],
        [event(ids(")")), last_event("limit")],
        [event([END]), last_event("eos")],
    )
    filled = fill(script.respond, max_open=0)
    assert (filled.text, filled.finish_reason) == ("f()", "end_of_hole")
    assert [END, False] in script.requests[1]["logit_bias"]
    assert script.requests[1]["n_predict"] == 1
    assert "logit_bias" not in script.requests[2]


def test_an_outdented_line_ends_a_block(fill) -> None:
    script = LlamaScript([event(ids("    val")), event(ids("\nreturn")), event(ids("x" * 50))])
    filled = fill(script.respond, stop=(), min_indent=4)
    assert (filled.text, filled.finish_reason) == ("    val", "end_of_hole")


@pytest.mark.parametrize(
    ("fields", "reason"), [({}, "max_tokens"), ({"max_steps": 2}, "max_steps")]
)
def test_a_limit_is_a_reason(fill, fields: dict[str, int], reason: str) -> None:
    num = fields.get("max_steps", 3)
    script = LlamaScript([*(event(ids("1")) for _ in range(num)), last_event("limit")])
    filled = fill(script.respond, max_tokens=3, **fields)
    assert (filled.text, filled.finish_reason) == ("1" * num, reason)
    assert script.requests[0]["n_predict"] == num


def test_a_full_slot_ends_the_hole(fill) -> None:
    script = LlamaScript([event(ids("1")), last_event("limit")])
    assert fill(script.respond, max_tokens=9).text == "1"


def test_a_half_typed_word_is_held_by_a_grammar_for_its_tokens_only(fill) -> None:
    script = LlamaScript(
        [event(ids("return")), last_event("limit")],
        [event(ids(" val")), event(ids("\n")), last_event("word")],
    )
    filled = fill(script.respond, given="ret")
    assert filled.text == "urn val"
    first, second = script.requests
    assert (first["grammar"], first["n_predict"]) == ('root ::= "ret" [^\\x00]*', 1)
    assert not first["stream"]
    assert "grammar" not in second
    assert second["stream"]
    assert second["prompt"] == [*first["prompt"], *ids("return")]


def test_a_server_without_grammars_is_found(fill) -> None:
    with pytest.raises(RemoteError, match="does not continue what is typed"):
        fill(LlamaScript([event(ids("val")), last_event("eos")]).respond, given="ret")


def test_another_beginning_is_the_next_likely_token(fill) -> None:
    rows = [{"id": token, "logprob": -n} for n, token in enumerate(ids("x") + ids("1") + ids("r"))]
    scored = [{**rows[0], "top_logprobs": rows}]
    first = event(ids("x"), completion_probabilities=scored)
    script = LlamaScript([first, last_event("limit")], [event(ids("2\n")), last_event("word")])
    filled = fill(script.respond, alternative=1)
    assert filled.text == "12"
    assert filled.tokens[0].confidence == pytest.approx(0.3679, abs=1e-4)


def test_steps_show_the_text_while_it_comes(fill) -> None:
    steps: list[Step] = []
    script = LlamaScript([event(ids("def")), event(ids(" val")), last_event("eos")])
    filled = fill(script.respond, FillControl(on_step=steps.append))
    texts = ["".join(token.text for token in step.tokens) for step in steps]
    assert texts == ["def", "def val"]
    assert filled.text == "def val"
    assert filled.num_forwards == len(ids("def val"))


def test_the_servers_own_counts_are_those_of_the_answer(fill) -> None:
    script = LlamaScript([event(ids("1")), last_event("eos", num_read=3, num_reused=40)])
    filled = fill(script.respond)
    assert (filled.num_prefilled, filled.num_reused) == (3, 40)


@pytest.mark.parametrize(
    ("text", "literal"),
    [('a"b', 'a\\"b'), ("\\d", "\\\\d"), ("\t\n\r", "\\t\\n\\r"), ("\x01é", "\\x01é")],
)
def test_a_grammar_holds_any_text(text: str, literal: str) -> None:
    assert grammar_beginning(text) == f'root ::= "{literal}" [^\\x00]*'


def test_idle_time_reads_up_to_a_nearer_boundary(settings, toy_folder):
    """Where the user has typed on for long, each key would reread what came since."""
    above = "def f():\n" * 3
    requests: list[dict[str, Any]] = []

    def complete(request: dict[str, Any], connection: socket.socket) -> None:
        requests.append(request)
        send_events(request, connection, [event(ids(" val")), last_event("limit")])

    with serving(llama_cpp_answers(complete)) as server:
        filler = settings.filler(server.url, tokenizer=toy_folder)
        for typed in ("", "x = 1\n" * (MAX_CHARS_AFTER // 10)):
            hole = Fill(id=1, prefix=above + typed + "y = ", suffix="\n", max_tokens=1)
            filler.fill(hole, NO_CONTROL)
            requests.clear()
            filler.prepare(NO_CONTROL)
        assert requests[-1]["n_predict"] == 1
        assert "x = 1" in toy_tokenizer().decode(requests[-1]["prompt"])
        requests.clear()
        filler.prepare(NO_CONTROL)
        assert requests == [], "it is read already"


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
