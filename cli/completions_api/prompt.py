"""Read a completion request of the OpenAI-compatible API from JSON, and validate it.

A prompt may contain prefix and suffix in a fill-in-the-middle format.
"""

from dataclasses import dataclass
from typing import Annotated

import msgspec

MAX_TOKENS = 512


class CompletionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that are used; others are ignored. ``language`` is ours: an LSP language id."""

    prompt: str
    suffix: str | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    stop: str | list[str] | None = None
    stream: bool | None = None
    n: int | None = None
    seed: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    language: str = "plaintext"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """The text before and after the hole."""

    prefix: str
    suffix: str


_FORMATS = (  # markers before prefix, suffix and middle
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),  # Qwen, CodeGemma
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),  # StarCoder
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # DeepSeek-Coder
)


def read_completion_request(body: bytes) -> CompletionRequest:
    """Return the request. Raise ValueError with one line that says what is wrong."""
    try:
        request = msgspec.json.decode(body, type=CompletionRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"the body is not a completion request: {error}") from error
    if request.n not in (None, 1):
        raise ValueError("n must be 1: for another text, send another request with another seed")
    return request


def sides_of(request: CompletionRequest) -> Sides:
    """Return both sides of the hole. A prompt without markers is all prefix."""
    if request.suffix is None:
        for before_prefix, before_suffix, before_middle in _FORMATS:
            prompt = request.prompt
            if prompt.startswith(before_prefix) and prompt.endswith(before_middle):
                inner = prompt[len(before_prefix) : -len(before_middle)]
                prefix, marker, suffix = inner.partition(before_suffix)
                if marker:
                    return Sides(prefix=prefix, suffix=suffix)
    return Sides(prefix=request.prompt, suffix=request.suffix or "")


def stops_of(request: CompletionRequest) -> tuple[str, ...]:
    """Return the stop texts, without empty ones."""
    stops = [request.stop] if isinstance(request.stop, str) else request.stop or []
    return tuple(stop for stop in stops if stop)
