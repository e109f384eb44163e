"""What crosses the process boundary: every message between a client and the engine, no more.

Comes in and goes out as one msgpack map per frame, with the message's name under ``type``.
Knows nothing of sockets, of tokens or of LSP. Text positions never cross: only text does.
"""

from typing import Literal, TypeAlias

import msgspec

PROTOCOL_VERSION = 6
"""Raised whenever a message changes shape; both sides refuse any other number."""

MAX_FRAME_BYTES = 16 * 1024 * 1024
"""A frame above this is refused before it is read into memory."""

SettleMode: TypeAlias = Literal["verified", "entropy", "left_to_right"]
"""How a proposal becomes text: where the backbone would have written it, or by entropy bound; or
without any proposal, one token a pass, as the backbone alone does (to compare with)."""

FinishReason: TypeAlias = Literal[
    "end_of_hole",  # the model ended the hole, or a stop text was reached
    "max_tokens",
    "max_steps",
    "deadline",  # the best whole-hole answer so far
]

FailureCode: TypeAlias = Literal[
    "bad_request",  # a field is out of its range; the message names it
    "cancelled",
    "model",  # the model cannot be found, read or held; the message says what to do
    "out_of_memory",
    "internal",
]


class _Message(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True
):
    """Base of all messages: immutable, keyword-only, validated when decoded."""


# -- handshake: the first frame in each direction -------------------------------------------------


class _Handshake(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of the handshake, which must be read across protocols: it only ever gains fields with
    defaults, and unknown ones are ignored."""


class Hello(_Handshake, tag="hello", frozen=True, kw_only=True):
    """A client's first frame."""

    protocol: int
    build: str
    client: str  # for the log: "cli", "lsp", …
    token: str = ""  # proves on loopback TCP that the client may read the user's files


class Welcome(_Handshake, tag="welcome", frozen=True, kw_only=True):
    """The engine speaks this protocol and is ready to take requests (the model may still load)."""

    protocol: int
    build: str
    pid: int


class Refused(_Handshake, tag="refused", frozen=True, kw_only=True):
    """The engine will not speak with this client; the connection closes after this frame."""

    protocol: int
    build: str
    message: str


# -- requests --------------------------------------------------------------------------------------


class Fill(_Message, tag="fill", frozen=True, kw_only=True):
    """One hole: the text before it, the text after it, and when to end.

    ``given`` is text at the hole's start that is already there (a half-typed word): the fill
    continues it and the answer does not repeat it. ``stop`` are texts that end the hole where they
    first appear; they are not part of the answer. ``max_open``: they end nothing where the answer
    has opened more brackets than this and not closed them (None: wherever they appear), and where
    tokens are settled from left to right the model does not end the hole there either.
    ``min_indent`` ends a hole of several lines at the first later non-blank line that is indented
    by fewer columns (0: never; tabs count to the next multiple of 8). ``alternative`` k > 0 starts
    from the k-th next likely first token, so that several requests give different suggestions.
    ``num_candidates`` above 1: unless the model is sure of its answer, up to so many are written
    and weighed by how likely they make the whole text, the suffix included; the best one is the
    answer (families that cannot weigh give one; a rewritten draft has no others).
    ``model`` None takes the model that is loaded. ``gives_way``: who asked waits for longer than
    between two keys, so fills that do not give way are made between two passes of this one.

    ``draft`` is the hole's present text (behind ``given``), to be rewritten: a share ``noise``
    (0 < noise <= 1) of its tokens is masked again (or renoised, as the family has it) and settled
    anew between both sides; the rest is the start, and may be revised too. It must fit into
    ``max_tokens``, and keeps its number of tokens. Another ``seed`` masks and draws others, and so
    does another ``alternative``; ``settle`` is not asked. Empty, or masked whole by the masked
    family: the hole is filled from nothing.

    ``fresh``: no part of an earlier answer may be the start (the text is the same, the passes are
    more): for measuring.
    """

    id: int
    prefix: str
    suffix: str
    given: str = ""
    draft: str = ""
    noise: float = 1.0
    stop: tuple[str, ...] = ()
    max_open: int | None = None
    min_indent: int = 0
    max_tokens: int = 64
    max_steps: int | None = None
    deadline_ms: int | None = None  # counted from when the engine received the request
    settle: SettleMode = "verified"
    temperature: float | None = None  # None: the family's own schedule
    seed: int = 0
    alternative: int = 0
    num_candidates: int = 1
    gives_way: bool = False
    watch: bool = False  # send a Step after every denoising step
    fresh: bool = False
    model: str | None = None


class Cancel(_Message, tag="cancel", frozen=True, kw_only=True):
    """End the fill with this id between two denoising steps. Unknown ids are ignored."""

    id: int


class ReadAhead(_Message, tag="read_ahead", frozen=True, kw_only=True):
    """Read a hole's context in idle time, for the user's cursor stands there: fields as of a Fill.

    It is not answered. The newest one counts, any request goes before it, and nothing is loaded
    for it.
    """

    prefix: str
    suffix: str
    given: str = ""
    model: str | None = None


class GetStatus(_Message, tag="get_status", frozen=True, kw_only=True):
    id: int


class Preload(_Message, tag="preload", frozen=True, kw_only=True):
    """Load this model now (None: the default one), answered by ``Status`` or ``Failed``."""

    id: int
    model: str | None = None


class Stop(_Message, tag="stop", frozen=True, kw_only=True):
    """End the engine process in good order; running fills fail with ``cancelled``."""


# -- answers ---------------------------------------------------------------------------------------


class CanvasToken(msgspec.Struct, frozen=True, array_like=True):
    """One position of a canvas as shown while it settles."""

    text: str
    confidence: float  # probability of this token, 0 to 1
    is_settled: bool


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that fits less well than the one that was given; fields as in ``Filled``."""

    text: str
    tokens: tuple[CanvasToken, ...]
    mean_entropy: float
    finish_reason: FinishReason


class Step(_Message, tag="step", frozen=True, kw_only=True):
    """The canvas after one denoising step; sent only when the fill asked to watch."""

    id: int
    step: int
    tokens: tuple[CanvasToken, ...]


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds of one fill, as the engine saw them, with those in which it was laid aside."""

    queue: float
    prefill: float
    denoise: float
    total: float


class Filled(_Message, tag="filled", frozen=True, kw_only=True):
    """The answer: the hole's text without ``given``, as the model wrote it (nothing is cleaned)."""

    id: int
    text: str
    tokens: tuple[
        CanvasToken, ...
    ]  # the hole's tokens; texts joined give ``text`` where no token was cut
    steps: int  # model passes after the prefill
    ms: Timing
    mean_entropy: float  # nats per hole token, from the distribution each was settled under
    finish_reason: FinishReason
    model: str
    num_prefilled: int  # context tokens computed for this fill
    num_reused: int  # context tokens whose keys and values were already held
    others: tuple[Candidate, ...] = ()  # best first


class Failed(_Message, tag="failed", frozen=True, kw_only=True):
    """No answer. ``message`` is one line that says what and what to do."""

    id: int | None  # None: no request could be read
    code: FailureCode
    message: str


class LoadProgress(_Message, tag="load_progress", frozen=True, kw_only=True):
    """Sent to every connected client while a model loads or converts."""

    stage: str
    fraction: float | None  # 0 to 1; None: unknown


class Status(_Message, tag="status", frozen=True, kw_only=True):
    """The engine as it is now."""

    id: int
    pid: int
    build: str
    state: Literal["idle", "loading", "ready", "filling"]
    model: str | None  # None: none is loaded
    family: str | None
    device: str | None
    dtype: str | None
    notes: tuple[str, ...]  # plain words: which weights, "no adapter: one token a pass", …
    resident_bytes: int
    cached_tokens: int  # context tokens whose keys and values are held
    num_fills: int
    num_clients: int
    uptime_s: float
    idle_timeout_s: float


ClientMessage: TypeAlias = Hello | Fill | Cancel | ReadAhead | GetStatus | Preload | Stop
EngineMessage: TypeAlias = Welcome | Refused | Step | Filled | Failed | LoadProgress | Status

_encoder = msgspec.msgpack.Encoder()
_client_decoder: msgspec.msgpack.Decoder[ClientMessage] = msgspec.msgpack.Decoder(ClientMessage)
_engine_decoder: msgspec.msgpack.Decoder[EngineMessage] = msgspec.msgpack.Decoder(EngineMessage)


def encode(message: ClientMessage | EngineMessage) -> bytes:
    """Return the message as msgpack bytes, without the frame's length."""
    return _encoder.encode(message)


def decode_client_message(data: bytes) -> ClientMessage:
    """Read what a client sent. Raises ``msgspec.DecodeError`` or ``UnicodeDecodeError``."""
    return _client_decoder.decode(data)


def decode_engine_message(data: bytes) -> EngineMessage:
    """Read what the engine sent. Raises ``msgspec.DecodeError`` or ``UnicodeDecodeError``."""
    return _engine_decoder.decode(data)
