"""What a remote server may send, in every dialect: damaged events, and any bytes of HTTP."""

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from typing import Any, cast

import pytest
from http_server import serving
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import damaged

from intarsia.engine.errors import RemoteError
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.remote.dialects.generation import AnswerForm, ServerBusy, UnusableAnswer
from intarsia.engine.remote.dialects.ids_servers import Sglang, Vllm
from intarsia.engine.remote.dialects.llama_cpp import LlamaCpp
from intarsia.engine.remote.dialects.text_servers import LmStudio, Mlx, Ollama
from intarsia.engine.remote.dialects.vllm_canvas import VllmCanvas
from intarsia.engine.remote.fill.link import pieces
from intarsia.engine.remote.http.connections import Answer, Watch
from intarsia.engine.remote.http.exchange import ask_json, open_exchange
from intarsia.engine.remote.http.remotes import Remote, parse_remotes

REMOTE = parse_remotes('[there]\nurl = "http://127.0.0.1:9"\n', Path("remotes.toml"))["there"]

READERS: Mapping[str, tuple[AnswerForm, Callable[[bytes], Any]]] = {
    "llama.cpp": ("events", LlamaCpp().parse),
    "vLLM": ("events", Vllm("m", cache_salt="s").parse),
    "vLLM's canvas": ("events", VllmCanvas("m", cache_salt="s").parse),
    "SGLang": ("events", Sglang("m", cache_salt="s", id_of=len).parse),
    "LM Studio": ("events", LmStudio("m").parse),
    "Ollama": ("lines", Ollama("m").parse),
}
MLX = Mlx("m", cast(FimTokenizer, None))  # what is refused before its tokens are read
EVENTS = (
    b'{"tokens":[1,2],"stop":true,"stop_type":"word","timings":{"prompt_n":3,"prompt_ms":-1.5},'
    b'"completion_probabilities":[{"id":1,"logprob":-0.5},{"id":2,"logprob":null}]}',
    b'{"choices":[{"text":"a","logprobs":{"tokens":["token_id:5"],"token_logprobs":[-1.0],'
    b'"top_logprobs":[{"token_id:5":-1.0}]},"finish_reason":"stop","stop_reason":"x"}]}',
    b'{"choices":[{"text":"a","token_ids":[5],"logprobs":{"tokens":["a"],"token_logprobs":[null],'
    b'"top_logprobs":[{"a":-1.0,"\xc3\xa9":null}]},"finish_reason":"length"}],"model":"m"}',
    b'{"choices":[],"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}}',
    b'{"model":"m","response":"a","done":true,"done_reason":"stop","logprobs":[{"token":"a",'
    b'"logprob":-0.1,"top_logprobs":[{"logprob":-0.1},{"logprob":null}]}]}',
    b'{"error":{"message":"busy\\n\\u001b","code":503}}',
    b'{"error":"no"}',
    b"[DONE]",
)
STATUSES = (b"200 OK", b"202 Accepted", b"301 Moved", b"401 No", b"404 No", b"429 Busy", b"500 No")
STATUSES += (b"503 Busy\r\nRetry-After: 5", b"503 Busy\r\nRetry-After: Mon, 01 Jan 0001", b"999 ?")
LENGTHS = (b"Connection: close", b"Transfer-Encoding: chunked", b"Content-Length: 40")
HEADERS = {"content-type": "text/event-stream"}

kinds = st.sampled_from(sorted(READERS))
events = st.sampled_from(EVENTS)


def read(parse: Callable[[bytes], Any], data: bytes) -> object:
    """Return what an event says, or why it cannot be read."""
    try:
        return parse(data)
    except (UnusableAnswer, ServerBusy) as error:
        return type(error), str(error)


@given(kinds, events, events.flatmap(damaged), st.integers(1, 256))
@example("vLLM", EVENTS[1], EVENTS[1].replace(b"-1.0", b"1e999"), 7)
@example("vLLM", EVENTS[2], EVENTS[2].replace(b'"a"', b'"\\ud800"'), 7)
@example("llama.cpp", EVENTS[0], b"\xff\xfe", 3)
def test_an_answer_says_the_same_in_any_pieces(kind, event, other, piece_bytes):
    mark = b"data: " if READERS[kind][0] == "events" else b""
    body = mark + event + b"\n\n" + mark + other + b"\n"
    cut = [body[at : at + piece_bytes] for at in range(0, len(body), piece_bytes)]
    assert said(kind, cut) == said(kind, [body])


@pytest.mark.parametrize("data", [b"{]", b'{"model":"\xff"}', b'{"other":' + b"[" * 100_000])
@pytest.mark.parametrize("parse", [*(parse for _, parse in READERS.values()), MLX.parse])
def test_what_is_no_json_is_unusable(parse: Callable[[bytes], Any], data: bytes) -> None:
    with pytest.raises(UnusableAnswer):
        parse(data)


def test_a_line_that_comes_byte_by_byte_costs_its_length() -> None:
    """Joining it again for each byte would take longer than the time limit of tests."""
    body = chain(repeat(b"x", 3_000_000), [b"\n"])
    (line,) = pieces(REMOTE, "/fill", Answer(status=200, headers={}, body=body), "lines")
    assert line == b"x" * 3_000_000


def said(kind: str, body: Sequence[bytes]) -> str:
    """Return all that is read, as text: NaN is equal to NaN then."""
    form, parse = READERS[kind]
    answer = Answer(status=200, headers=HEADERS, body=iter(body))
    try:
        return repr([read(parse, data) for data in pieces(REMOTE, "/fill", answer, form)])
    except RemoteError as error:
        return str(error)


def http(status: bytes, length: bytes, header: bytes, event: bytes, rest: bytes) -> bytes:
    body = b"data: " + event + b"\n\n"
    if length.endswith(b"chunked"):
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    head = b"HTTP/1.1 %s\r\nContent-Type: text/event-stream\r\n%s\r\n" % (status, length)
    return head + header + b"\r\n" + body + rest


answers = st.binary(max_size=320).map(lambda rest: b"HTTP/1.1 " + rest) | st.builds(
    http,
    st.sampled_from(STATUSES),
    st.sampled_from(LENGTHS),
    st.binary(max_size=32),
    events.flatmap(damaged),
    st.binary(max_size=64),
)


@given(kinds, answers)
@example("llama.cpp", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
@example(
    "LM Studio", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 B\r\nRetry-After: 31 Dec 9999\r\n\r\n"
)
def test_any_http_is_an_answer_or_an_error_of_one_line(kind: str, answer: bytes) -> None:
    watch = Watch(checkpoint=lambda: None, silence_s=5, total_s=5)
    for ask in (ask_stream, ask_for_json):
        with served(answer) as remote:
            try:
                ask(remote, kind, watch)
            except RemoteError as error:
                assert str(error).isprintable()
                assert len(str(error)) < 1_000


def ask_stream(remote: Remote, kind: str, watch: Watch) -> None:
    form, parse = READERS[kind]
    with open_exchange(remote, "/fill", watch, {}) as answer:
        for data in pieces(remote, "/fill", answer, form):
            read(parse, data)


def ask_for_json(remote: Remote, _kind: str, watch: Watch) -> None:
    ask_json(remote, "/tokenize", watch, {})


@contextmanager
def served(answer: bytes) -> Iterator[Remote]:
    """Yield a server that sends this to whoever asks, and ends."""

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_WR)

    with serving(respond) as server:
        yield parse_remotes(f'[there]\nurl = "{server.url}"\n', Path("remotes.toml"))["there"]
