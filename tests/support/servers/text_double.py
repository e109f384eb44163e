"""Servers that take text, with answers of the test: Ollama's by its documentation, mlx-lm's as ran.

``MODELS`` follows openai/openai.go of ollama/ollama, ``SHOWN`` and ``VERSION`` its page on the API.
"""

import json
import socket
from collections.abc import Callable, Sequence
from typing import Any

from http_server import Respond, answer
from toy_causal_tokenizer import toy_tokenizer

ROW = {"id": "toy:latest", "object": "model", "owned_by": "library"}
MODELS = {"object": "list", "data": [ROW]}
VERSION = {"version": "0.12.11"}
SHOWN = {
    "details": {"format": "gguf", "family": "llama", "quantization_level": "Q4_0"},
    "model_info": {"general.architecture": "llama", "llama.context_length": 8192},
}

Write = Callable[[dict[str, Any]], Sequence[bytes]]
"""Returns the pieces of the answer to a request."""


def ollama_answers(write: Write, **changed: object) -> Respond:
    """Return an Ollama that completes by ``write``; ``changed`` are other answers by path."""
    fixed: dict[str, object] = {"v1/models": MODELS, "api/version": VERSION, "api/show": SHOWN}
    fixed |= {path.replace("_", "/"): value for path, value in changed.items()}

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path == "/api/generate":
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
            connection.sendall(head + b"".join(write(json.loads(body))))
        else:
            found = fixed.get(path[1:])
            answer(connection, json.dumps(found).encode(), status=404 if found is None else 200)

    return respond


def line(text: str, *log_ps: float, **fields: object) -> bytes:
    """Return a line of ``/api/generate``, with the text's tokens if their probabilities are given.

    The tokens are the signs of the text.
    """
    value: dict[str, object] = {
        "model": "toy",
        "created_at": "2023-08-04T08:52:19.385406455-07:00",
        "response": text,
        "done": False,
    }
    if log_ps:
        top = [{"token": "?", "logprob": -0.5}, {"token": "!", "logprob": -1.0}]
        value["logprobs"] = [
            {"token": sign, "logprob": log_p, "bytes": [1], "top_logprobs": top}
            for sign, log_p in zip(text, log_ps, strict=True)
        ]
    return json.dumps(value | fields).encode() + b"\n"


def last_line(reason: str = "stop") -> bytes:
    return line("", done=True, done_reason=reason, prompt_eval_count=26, eval_count=259)


def mlx_answers(
    write: Callable[[dict[str, Any]], bytes],
    *,
    listed: bytes = b'{"object": "list", "data": [{"id": "/toy", "object": "model"}]}',
) -> Respond:
    """Return mlx-lm's server, with a model of the toy tokenizer, that completes by ``write``."""

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        fixed = {"/v1/models": listed, "/health": b'{"status": "ok"}'}
        if path == "/v1/completions":
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + write(json.loads(body)))
        elif path in fixed:
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + fixed[path])
        else:
            connection.sendall(b"HTTP/1.0 404 Not Found\r\n\r\nNot Found")

    return respond


def mlx_answer(
    text: str, *, finish: str = "length", end: str = "", shown: str | None = None
) -> bytes:
    """Return mlx-lm's answer with the tokens of a text, and those of a mark at its ``end``.

    Its own text lacks the first blank, or is what is ``shown``.
    """
    ids = toy_tokenizer().encode(text + end).ids
    choice = {
        "index": 0,
        "finish_reason": finish,
        "logprobs": {"content": [{"id": token, "logprob": -0.25} for token in ids]},
        "text": text.removeprefix(" ") if shown is None else shown,
    }
    usage = {"prompt_tokens": 40, "completion_tokens": len(ids), "total_tokens": 40 + len(ids)}
    details = {"prompt_tokens_details": {"cached_tokens": 30}}
    whole = {"object": "text_completion", "model": "default_model", "choices": [choice]}
    return json.dumps(whole | {"usage": usage | details}).encode()
