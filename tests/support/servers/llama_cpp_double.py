"""The answers of llama.cpp's server as it was recorded, for tests of what else can happen.

``test_live_llama_cpp.py`` runs the server itself; here its events are sent by hand.
"""

import json
import socket
from collections.abc import Callable, Sequence
from typing import Any

from http_server import Respond, answer, begin_events
from toy_causal_tokenizer import toy_tokenizer

from intarsia.engine.families.masked_causal.backbone.fim_marks import KNOWN_MARKS
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.token_codec import HubCodec

_LISTS = ("tokens", "completion_probabilities")

Complete = Callable[[dict[str, Any], socket.socket], None]


def llama_cpp_answers(complete: Complete, *, model: str = "toy") -> Respond:
    """Return a server with the toy tokenizer that completes by ``complete``."""
    text = FimTokenizer(HubCodec(toy_tokenizer()), KNOWN_MARKS[0])

    def respond(path: str, body: bytes, connection: socket.socket) -> None:
        if path == "/v1/models":
            send(connection, {"data": [{"id": model, "owned_by": "llamacpp", "meta": {}}]})
        elif path == "/props":
            slots = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 2}
            send(connection, slots | {"model_ftype": "F16"})
        elif path == "/tokenize":
            request = json.loads(body)
            content = request["content"]
            marks = text.fim_marks() if request["parse_special"] else {}
            ids = [marks[content]] if content in marks else text.encode(content)
            send(connection, {"tokens": ids})
        else:
            complete(json.loads(body), connection)

    return respond


def send(connection: socket.socket, value: object, *, status: int = 200) -> None:
    answer(connection, json.dumps(value).encode(), status=status)


def event(ids: Sequence[int], **fields: object) -> bytes:
    """Return an event with these tokens, as ``/completion`` streams it."""
    likely = [{"id": i, "logprob": -0.1} for i in ids]
    scored = [it | {"top_logprobs": [it]} for it in likely]
    value = {"tokens": list(ids), "stop": False, "completion_probabilities": scored} | fields
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def last_event(stop_type: str = "eos", *, num_read: int = 1, num_reused: int = 0) -> bytes:
    timings = {"prompt_n": num_read, "cache_n": num_reused, "prompt_ms": 1.0}
    return event([], stop=True, stop_type=stop_type, model="toy", timings=timings)


def writing(*pieces: bytes) -> Complete:
    """Return a completion of these events, whatever it is asked."""

    def complete(request: dict[str, Any], connection: socket.socket) -> None:
        send_events(request, connection, pieces)

    return complete


def send_events(
    request: dict[str, Any], connection: socket.socket, events: Sequence[bytes]
) -> None:
    """Answer by a stream of these events, or as a whole if the request wants no stream."""
    if request.get("stream", True):
        begin_events(connection)
        connection.sendall(b"".join(events))
        return
    values = [json.loads(it.removeprefix(b"data: ")) for it in events]
    lists = {name: [one for it in values for one in it[name]] for name in _LISTS}
    send(connection, values[-1] | lists)
