"""A server with vLLM's API, for a model with the toy tokenizer: vLLM, SGLang or a NIM."""

import json
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from http_server import Respond, answer, begin_events
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.families.masked_causal.tokens.fim_marks import KNOWN_MARKS
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer

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


def vllm_answers(
    *events: bytes,
    asked: list[dict[str, Any]],
    owner: str = "vllm",
    fixed: Mapping[str, tuple[bytes, int]] | None = None,
) -> Respond:
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
    text = FimTokenizer(toy_tokenizer(), KNOWN_MARKS[0])
    content, marks = json.loads(body)["prompt"], text.fim_marks()
    ids = [marks[content]] if content in marks else text.encode(content)
    return json.dumps({"tokens": ids}).encode()
