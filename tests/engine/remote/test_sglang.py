"""SGLang's dialect. Events are built by the response classes of its wheel, 0.5.23, not recorded.

``tests/live_engines/test_sglang.py`` has the wheel's own code read what is asked here.
"""

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from http_server import answer, begin_events, serving
from remote_settings import RemoteSettings
from toy_causal_fill import run_fill
from toy_causal_tokenizer import toy_tokenizer
from vllm_double import tokenized

from intarsia.engine.ipc.messages import Fill
from intarsia.engine.remote.dialects.generation import (
    Generation,
    LikelyToken,
    NewToken,
    Reading,
    ServerBusy,
    UnusableAnswer,
)
from intarsia.engine.remote.dialects.sglang import Sglang
from intarsia.engine.remote.filler import RemoteFiller

TOKEN = (
    b'{"id":"1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,'
    b'"text":"x","logprobs":{"text_offset":[-1],"token_logprobs":[-0.25],"tokens":["x"],'
    b'"top_logprobs":[{"x":-0.25,"\xc3\x83":-1.5,"y":-2.0}]},"finish_reason":null,'
    b'"matched_stop":null,"token_ids":[9]}],"usage":null}'
)
AT_STOP_TEXT = TOKEN.replace(
    b'"finish_reason":null,"matched_stop":null', b'"finish_reason":"stop","matched_stop":"\\n"'
)
AT_END_TOKEN = TOKEN.replace(
    b'"finish_reason":null,"matched_stop":null', b'"finish_reason":"stop","matched_stop":151643'
)
AT_LIMIT = TOKEN.replace(b'"finish_reason":null', b'"finish_reason":"length"')
USAGE = (
    b'{"id":"1","object":"text_completion","created":1,"model":"m","choices":[],"usage":'
    b'{"prompt_tokens":40,"total_tokens":41,"completion_tokens":1,"prompt_tokens_details":'
    b'{"cached_tokens":16},"reasoning_tokens":0}}'
)
USAGE_ALONE = USAGE.replace(b',"prompt_tokens_details":{"cached_tokens":16}', b"")

SGLANG = Sglang("m", cache_salt="salt", id_of={b"x": 9, b"y": 8}.get)


def test_a_token_with_the_likely_ones_that_their_texts_tell() -> None:
    chunk = SGLANG.parse(TOKEN)
    assert chunk is not None
    likeliest = (LikelyToken(id=9, log_p=-0.25), LikelyToken(id=8, log_p=-2.0))
    assert chunk.tokens == (NewToken(id=9, log_p=-0.25, likeliest=likeliest),)
    assert (chunk.stop, chunk.is_last, chunk.model) == (None, False, "m")


@pytest.mark.parametrize(
    ("data", "stop"),
    [(AT_LIMIT, "limit"), (AT_STOP_TEXT, "stop_text"), (AT_END_TOKEN, "end_token")],
)
def test_why_a_text_ends(data: bytes, stop: str) -> None:
    chunk = SGLANG.parse(data)
    assert chunk is not None and (chunk.stop, chunk.is_last) == (stop, False)


def test_the_usage_comes_last_and_says_what_was_read() -> None:
    chunk, alone = SGLANG.parse(USAGE), SGLANG.parse(USAGE_ALONE)
    assert chunk is not None and chunk.is_last
    assert chunk.reading == Reading(num_read=24, num_reused=16, ms=0.0)
    assert alone is not None and alone.is_last and alone.reading is None
    assert SGLANG.parse(b"[DONE]") is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "not SGLang's"),
        (TOKEN.replace(b',"token_ids":[9]', b""), "update the server"),
        (TOKEN.replace(b"[-0.25]", b"[]"), "without probabilities"),
        (TOKEN.replace(b'[{"x"', b'[null,{"x"'), "without likely ones"),
        (TOKEN.replace(b'"finish_reason":null', b'"finish_reason":"abort"'), "'abort'"),
        (b'{"error":{"object":"error","message":"too long","type":"x","code":400}}', "too long"),
    ],
)
def test_other_answers_are_unusable(data: bytes, message: str) -> None:
    with pytest.raises(UnusableAnswer, match=message):
        SGLANG.parse(data)


def test_a_full_server_is_busy() -> None:
    with pytest.raises(ServerBusy, match="queue is full"):
        SGLANG.parse(b'{"error":{"message":"queue is full","code":503}}')


def test_a_template_of_the_server_never_gets_the_prompt() -> None:
    body = SGLANG.body(Generation(prompt=[1, 2], max_tokens=5, stop=("\n",), num_likely=10))
    assert (body["prompt"], body["suffix"], body["cache_salt"]) == ([1, 2], "", "salt")
    assert "priority" not in body and "regex" not in body
    assert body["return_token_ids"] and body["logprobs"] == 10


def test_half_typed_text_and_forbidden_tokens() -> None:
    body = SGLANG.body(Generation(prompt=[1], max_tokens=1, beginning=b"a.b(*", forbidden=(7,)))
    pattern = re.compile(body["regex"])
    assert pattern.fullmatch("a.b(*\nc") and not pattern.fullmatch("axb(*")
    assert body["logit_bias"] == {"7": -100}


def test_a_hole_is_filled(settings: RemoteSettings, tmp_path: Path) -> None:
    toy_tokenizer().save(str(tmp_path / "tokenizer.json"))
    ids, asked = toy_tokenizer().encode("ab").ids, []

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path == "/v1/models":
            row = {"id": "toy", "owned_by": "sglang", "max_model_len": 4096}
            answer(connection, json.dumps({"data": [row]}).encode())
        elif path == "/tokenize":
            answer(connection, tokenized(body))
        elif path == "/v1/completions":
            asked.append(json.loads(body))
            begin_events(connection)
            events = [*(token_event(i) for i in ids[:-1]), token_event(ids[-1], "length"), USAGE]
            connection.sendall(b"".join(b"data: " + event + b"\n\n" for event in events))
        else:
            answer(connection, b"{}", status=404)

    with serving(respond) as server:
        remote = settings.write(server.url, tokenizer=tmp_path)
        filler = RemoteFiller(remote, max_context_tokens=2_048)
        filled = run_fill(filler, Fill(id=1, prefix="x = ", suffix="\n", max_tokens=len(ids)))
    assert filled.text == "ab"
    assert (filled.num_prefilled, filled.num_reused) == (24, 16)
    assert asked[0]["suffix"] == "" and isinstance(asked[0]["prompt"][0], int)
    assert filler.info.family == "SGLang"


def token_event(token: int, finish: str | None = None) -> bytes:
    """Return an event with one token."""
    scored = {"tokens": ["?"], "token_logprobs": [-0.1], "top_logprobs": [{}]}
    choice: dict[str, Any] = {"index": 0, "text": "?", "logprobs": scored, "finish_reason": finish}
    return json.dumps({"model": "toy", "choices": [choice | {"token_ids": [token]}]}).encode()
