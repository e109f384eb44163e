"""Every message between a client and the engine: nothing else crosses the process boundary.

A frame holds one msgpack map with the message's name under ``type``. Messages hold text,
never positions in a text. Knows nothing of sockets, tokens or LSP.
"""

from typing import Literal, TypeAlias, TypeVar

import msgspec

PROTOCOL_VERSION = 18
"""Raised whenever a message changes shape; both sides refuse any other number."""

MAX_NAMES = 500
"""Names in one fill: looking up more is not worth the time."""

MAX_FRAME_BYTES = 16 * 1024 * 1024
"""A frame above this is refused before it is read into memory."""

Decoding: TypeAlias = Literal["speculative", "autoregressive"]
"""How forward passes become text.

``speculative``: several tokens are drafted and a pass of the backbone verifies them, so the text is
the backbone's own greedy text. ``autoregressive``: one token a pass, left to right (to compare)."""

FinishReason: TypeAlias = Literal[
    "end_of_hole",  # the model ended the hole, or a stop text was reached
    "max_tokens",
    "max_steps",
    "deadline",  # the best whole-hole answer so far
]

FailureCode: TypeAlias = Literal[
    "bad_request",  # a field is out of its range; the message names it
    "cancelled",
    "model",  # the model cannot be found, read or loaded; the message says what to do
    "out_of_memory",
    "unavailable",  # a remote engine is gone, too slow, or sends what cannot be used
    "busy",  # a remote engine has too much to do now; the message says when to try again
    "internal",
]


class _Message(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True
):
    """Base of all messages: immutable, keyword-only, validated when decoded."""


# -- handshake: the first frame in each direction -------------------------------------------------


class _Handshake(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of the handshake. Every protocol must be able to read it, so it only gains fields with
    defaults, and ignores unknown fields."""


class Hello(_Handshake, tag="hello", frozen=True, kw_only=True):
    """A client's first frame."""

    protocol: int
    build: str
    client: str  # for the log: "cli", "lsp", …
    token: str = ""  # on loopback TCP: shows that the client can read the user's files


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


class ContextChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A passage of another file. ``path`` is what the model sees, relative to the opened folder."""

    path: str
    text: str


class ProjectContext(msgspec.Struct, frozen=True, kw_only=True):
    """The text that the model reads before the file with the hole, in this order.

    ``chunks`` that rarely change come first, so that the tokens before a change stay cached.
    """

    repository: str  # the opened folder's name
    path: str  # of the file with the hole
    chunks: tuple[ContextChunk, ...]


class ChatTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A question to a model that follows instructions, as plain text: the engine adds its marks.

    ``begun`` is the answer's beginning, before the ``given`` text of the fill.
    """

    system: str
    user: str
    begun: str = ""


ProjectUse: TypeAlias = Literal["if_cached", "always"]
"""When a fill uses its project context.

``if_cached``: only if that costs little reading, because the context was read in idle time or the
machine reads quickly; the fill never waits for it. Until then it uses the last context of the same
file that was read, or none. ``always``: read it first, to measure, or in the background."""


class Fill(_Message, tag="fill", frozen=True, kw_only=True):
    """One hole: the text before it, the text after it, and where to end.

    ``given`` is text at the hole's start that is already there, such as a half-typed word. The
    fill continues it, and the answer does not repeat it.

    ``names``: the answer begins with one of these identifiers, or what ``given`` leaves of it, such
    as the members of a type after ``receiver.``. () allows any text. Other families than the masked
    one ignore them.

    ``stop`` texts end the hole where they first appear, and are not part of the answer.
    ``max_open`` holds them back while the answer has more than this number of open brackets (None:
    never); autoregressive and speculative decoding do not end the hole there either.
    ``min_indent`` ends a hole of several lines at the first later non-blank line that is indented
    by fewer columns (0: never; a tab counts to the next multiple of 8).

    ``alternative`` k > 0 starts from the k-th next likely first token, so that several requests
    give different suggestions. With ``anywhere`` it leaves the likeliest text at the k-th likeliest
    other token of all its places; families other than the masked one ignore that.
    With ``num_candidates`` above 1, a model that is not sure of its
    answer writes up to that number of answers and returns the one that makes the whole text,
    suffix included, most likely. Families that cannot score return one answer; a rewritten draft
    has no others.

    ``model`` None uses the loaded model. An ``is_background`` fill may take long: other fills run
    between its forward passes.

    ``draft`` is the hole's present text (after ``given``), to be rewritten. A share ``noise``
    (0 < noise <= 1) of its tokens is masked again, or renoised, and predicted from both sides; the
    rest is the start, and may be revised too. The draft must fit into ``max_tokens`` and keeps its
    number of tokens. Another ``seed`` or ``alternative`` masks and samples others; ``decoding`` is
    ignored. An empty draft, or one that the masked family masks whole, is an ordinary fill.

    With ``chat`` there is no hole: the answer to this turn is written, and begins with ``given``.
    Texts before and after it are not read, and ``draft`` is only what the answer may repeat. A
    model that does not follow instructions answers ``bad_request``.

    ``asked`` is how a model that follows instructions is asked for the text of this hole. Other
    models, and a window that is too small for the turn, fill the hole as if it were None.

    ``fresh`` forbids a warm start from earlier answers. The text is the same, in more passes: this
    is for measuring.

    An ``is_ahead`` fill is for a place where the user may be next. It is counted apart, so that
    ``Status.num_fills`` are those that were waited for.

    ``project`` is code of other files. ``project_use`` says whether the fill may wait for it.

    ``owner`` is the user of a team's engine: no context serves another one. A user's own engine
    has one owner, "".
    """

    id: int
    prefix: str
    suffix: str
    given: str = ""
    names: tuple[str, ...] = ()
    draft: str = ""
    noise: float = 1.0
    chat: ChatTurn | None = None
    asked: ChatTurn | None = None
    stop: tuple[str, ...] = ()
    max_open: int | None = None
    min_indent: int = 0
    max_tokens: int = 64
    max_steps: int | None = None
    deadline_ms: int | None = None  # counted from when the engine received the request
    decoding: Decoding = "speculative"
    temperature: float | None = None  # None: the family's own schedule
    seed: int = 0
    alternative: int = 0
    anywhere: bool = False
    num_candidates: int = 1
    is_background: bool = False
    is_ahead: bool = False
    watch: bool = False  # send a Step after every denoising step
    fresh: bool = False
    project: ProjectContext | None = None
    project_use: ProjectUse = "if_cached"
    model: str | None = None
    owner: str = ""


class Cancel(_Message, tag="cancel", frozen=True, kw_only=True):
    """End the fill with this id between two denoising steps. Unknown ids are ignored."""

    id: int


class Prefetch(_Message, tag="prefetch", frozen=True, kw_only=True):
    """Read the context of a hole at the user's cursor in idle time. The fields are those of a Fill.

    There is no answer. Only an owner's newest one counts, every request goes before it, and no
    model is loaded for it.
    """

    prefix: str
    suffix: str
    given: str = ""
    project: ProjectContext | None = None
    model: str | None = None
    owner: str = ""


class TextPart(msgspec.Struct, frozen=True, kw_only=True):
    """Whole lines of a window, before and after an edit: equal texts where nothing changed.

    Further edits are looked for only where it ``may_change``: not in the edit itself, and not at a
    place that the user has dismissed.
    """

    before: str
    after: str
    may_change: bool


class EditExample(msgspec.Struct, frozen=True, kw_only=True):
    """The user's edit as whole lines, to be repeated elsewhere.

    An edit that only adds lines has the line above and the line below it in both texts.
    """

    before: str
    after: str


class LineChange(msgspec.Struct, frozen=True, kw_only=True):
    """Whole lines that would take the place of ``num_lines`` lines."""

    first_line: int  # of the parts' texts after the edit, joined; from 0
    num_lines: int
    text: str


class FindNextEdits(_Message, tag="find_next_edits", frozen=True, kw_only=True):
    """Find lines that no longer fit after an edit, and correct them.

    ``parts`` are a window of one file, in order, or an edit and then a window of another file.
    Lines are looked for ``below`` the first part that changed, or ``above`` it. ``example`` None
    only reads the text, so that it is known before the next edit. Answered by ``NextEdits`` or
    ``Failed``.

    ``repeats`` are changes that make the edit again. They are judged first; only where none of them
    gains are other lines sought, and none where they are the ``only_repeats``.

    It runs in idle time, and foreground fills run within it. ``Cancel`` ends it, as does any other
    request that a user waits for. So does another loaded model, which is not put out. None of these
    ends one that is itself ``is_awaited``. A model that cannot score answers ``bad_request``.
    """

    id: int
    parts: tuple[TextPart, ...]
    example: EditExample | None
    repeats: tuple[LineChange, ...] = ()
    only_repeats: bool = False
    direction: Literal["below", "above"] = "below"
    max_places: int = 1
    model: str | None = None
    is_awaited: bool = False


class ScoreTexts(_Message, tag="score_texts", frozen=True, kw_only=True):
    """Compare how likely texts are between a prefix and a suffix with the ``present`` text there.

    ``suffix`` is scored too, as far as it is near. At most ``max_scored`` texts are scored, by how
    likely their first new token is. Answered by ``TextScores`` or ``Failed``. Fills at a cursor run
    within it. A model that cannot score answers ``bad_request``.
    """

    id: int
    prefix: str
    present: str
    texts: tuple[str, ...]
    suffix: str
    max_scored: int = 64
    model: str | None = None


class AheadReport(_Message, tag="ahead_report", frozen=True, kw_only=True):
    """The gain of fills ahead of a client's user since its last report. No answer follows."""

    num_asked: int = 0
    num_hits: int = 0  # fills that answered a request of the user
    spent_s: float = 0.0  # time of all these fills
    used_s: float = 0.0  # time of the hits


_Counts = TypeVar("_Counts", bound=msgspec.Struct)


def summed(one: _Counts, other: _Counts) -> _Counts:
    """Return the sums of the numbers that both have."""
    others = msgspec.structs.asdict(other)
    return msgspec.structs.replace(
        one, **{name: number + others[name] for name, number in msgspec.structs.asdict(one).items()}
    )


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
    confidence: float | None  # probability of this token, 0 to 1; None: a server does not say
    is_settled: bool


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that scored lower than the chosen one. The fields are those of ``Filled``."""

    text: str
    tokens: tuple[CanvasToken, ...]
    mean_entropy: float
    finish_reason: FinishReason
    end_confidence: float | None = None


class Step(_Message, tag="step", frozen=True, kw_only=True):
    """The canvas after one denoising step; sent only when the fill asked to watch."""

    id: int
    step: int
    tokens: tuple[CanvasToken, ...]


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds of one fill in the engine, with the time for which it was suspended."""

    queue: float
    prefill: float
    denoise: float
    total: float


class Filled(_Message, tag="filled", frozen=True, kw_only=True):
    """The answer: the hole's text without ``given``, as the model wrote it (nothing is cleaned)."""

    id: int
    text: str
    tokens: tuple[CanvasToken, ...]  # joined they give ``text``, unless a token was cut
    num_forwards: int  # forward passes after the prefill
    ms: Timing
    # Nats per hole token, of the distribution that each was committed from; None: not known.
    mean_entropy: float | None
    finish_reason: FinishReason
    model: str
    num_prefilled: int  # context tokens computed for this fill
    num_reused: int  # context tokens that were in the KV cache already
    num_project: int = 0  # context tokens of other files that the answer was written with
    was_asked: bool = False  # by ``asked``: the text around the hole told nothing
    # Probability that the hole ends after ``tokens``; None: it did not end there, or not known.
    end_confidence: float | None = None
    others: tuple[Candidate, ...] = ()  # best first
    caution: str = ""  # after ``chat``: what was measured of a model that is often wrong


class NextEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Lines that the edit made unlikely, and what could replace them. Likelihoods are in nats.

    ``drop``: the largest loss of log-probability of one token in these lines. ``gain``: by how much
    the new lines, and two lines after them, are likelier than the old ones; ``gain_before``: the
    same with the text before the edit. Their difference is the edit's own share.
    """

    first_line: int  # of the parts' texts after the edit, joined; from 0
    num_lines: int  # that ``text`` replaces: 0 inserts before ``first_line``
    text: str  # whole lines
    drop: float
    gain: float
    gain_before: float
    log_p: float  # of the new lines as they were written
    is_agreed: bool  # a second way to write them gave the same text


class NextEdits(_Message, tag="next_edits", frozen=True, kw_only=True):
    """The answer to ``FindNextEdits``: the places with a correction, the likeliest first.

    ``line`` is the likeliest place of all, corrected or not; None where no line was scored.
    """

    id: int
    edits: tuple[NextEdit, ...]
    line: int | None  # of the parts' texts after the edit, joined; from 0
    drop: float  # of that line, in nats; 0 without one
    num_prefilled: int  # tokens computed for the scores
    num_reused: int  # tokens of the window that were held
    ms: float


class TextScores(_Message, tag="text_scores", frozen=True, kw_only=True):
    """The answer to ``ScoreTexts``.

    ``gains``: by how many nats each text, with what follows it, is likelier than the present one;
    None where it was not scored.
    """

    id: int
    gains: tuple[float | None, ...]
    ms: float


class Failed(_Message, tag="failed", frozen=True, kw_only=True):
    """No answer. ``message`` is one line: what is wrong and what to do."""

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
    notes: tuple[str, ...]  # plain words: which weights, "no drafter: one token a pass", …
    resident_bytes: int
    cached_tokens: int  # context tokens in the KV cache
    num_fills: int
    num_clients: int
    uptime_s: float
    idle_timeout_s: float
    quiet_s: float  # since the model thread last began, went on with, or ended any work
    prefill_tokens_per_s: float | None = None  # measured; None before the first long prefill
    ahead: AheadReport = AheadReport()  # of all clients, summed
    cache_folder: str | None = None  # where it finds and keeps models


ClientMessage: TypeAlias = (
    Hello
    | Fill
    | Cancel
    | Prefetch
    | FindNextEdits
    | ScoreTexts
    | AheadReport
    | GetStatus
    | Preload
    | Stop
)
EngineMessage: TypeAlias = (
    Welcome | Refused | Step | Filled | NextEdits | TextScores | Failed | LoadProgress | Status
)

encode = msgspec.msgpack.Encoder().encode
decode_client_message = msgspec.msgpack.Decoder[ClientMessage](ClientMessage).decode
decode_engine_message = msgspec.msgpack.Decoder[EngineMessage](EngineMessage).decode
