"""A planned fill: one hole of one text, the request for the engine, and how its answer is read.

    text, hole ── canvas ──▶ request ── engine ──▶ filled ── filters ──▶ suggestion

A plan is made for a hole, for one of several placeholders, or for the hole at a cursor. Where an
answer does not pass, ``Attempts`` has an alternative asked for:

    attempts = Attempts(plan.read)
    for alternative in attempts:
        attempts.take(await engine.fill(plan.request(options, alternative=alternative)))
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeAlias, TypeVar

import msgspec

from intarsia.engine.ipc.messages import (
    MAX_NAMES,
    ChatTurn,
    ContextChunk,
    Decoding,
    Fill,
    Filled,
    ProjectContext,
    ProjectUse,
    Step,
)
from intarsia.infill.canvas import (
    Budget,
    Canvas,
    FirstWindow,
    Window,
    build_canvas,
    hide_other_holes,
    hide_todo,
    shown_around,
)
from intarsia.infill.holes.hole import Hole, is_word_character, open_at_cursor
from intarsia.infill.languages import Language
from intarsia.infill.postprocess.clean import clean
from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia.infill.syntax.embedded_code import Code
from intarsia.infill.syntax.text import with_plain_newlines


@dataclass(frozen=True, kw_only=True, slots=True)
class FillOptions:
    """The options of a fill. None leaves a choice to the canvas or the engine."""

    decoding: Decoding = "speculative"
    seed: int = 0
    num_candidates: int = 4  # scored for a selection; a fill at a cursor has to be fast: one
    temperature: float | None = None
    max_tokens: int | None = None
    max_steps: int | None = None
    deadline_ms: int | None = None
    is_fresh: bool = False  # no warm start, so that every fill is measured under equal conditions
    is_background: bool = False  # fills at a cursor go first
    is_ahead: bool = False  # for a place where the user may be next
    model: str | None = None
    project: ProjectContext | None = None  # code of other files, to be read before this one
    project_use: ProjectUse = "if_cached"
    names: Sequence[str] = ()  # the text begins with one of these identifiers; () is any text
    budget: Budget = field(default_factory=Budget)


OnStep: TypeAlias = Callable[[Step], None]
"""Called with each denoising step of a fill."""

OnHoleStep: TypeAlias = Callable[[str, Hole, Step], None]
"""Called with the text that the model is shown, the hole in it, and a denoising step."""


class AskEngine(Protocol):
    """Sends a fill to the engine and waits for the answer; cancelling the await cancels the fill.

    Where the engine gives no answer it raises, or returns the reason.
    """

    async def __call__(
        self, request: Fill, on_step: OnStep | None = None, /
    ) -> Filled | NoSuggestion: ...


class PlannedHole(Protocol):
    """A hole in a text; ``window`` is the part of the text that the model sees around it."""

    @property
    def text(self) -> str: ...
    @property
    def hole(self) -> Hole: ...
    @property
    def language(self) -> Language: ...
    @property
    def window(self) -> tuple[int, int]: ...


FindProject: TypeAlias = Callable[[PlannedHole], Awaitable[ProjectContext | None]]
"""Returns the code of other files for a hole, None where there is none."""


async def with_project(
    options: FillOptions, planned: PlannedHole, find: FindProject | None
) -> FillOptions:
    """Return the options with the code of other files for a hole: its fill waits until it is
    read."""
    if find is None:
        return options
    return replace(options, project=await find(planned), project_use="always")


@dataclass(frozen=True, kw_only=True, slots=True)
class FillContext:
    """The values that all fills of one text have in common."""

    ask: AskEngine
    language: Language
    options: FillOptions
    on_step: OnHoleStep | None = None
    find_project: FindProject | None = None


FENCE = "```"
"""Ends the code in the answer to a question."""

DRAFT_BYTES_PER_TOKEN = 2
"""Fewer bytes a token than code has: the whole draft must fit into its hole."""

DRAFT_ROOM_TOKENS = 16
"""How many tokens longer than its draft a rewritten text may be."""

_TOO_LATE = "the deadline passed before the model wrote anything"

MAX_DRAFT_TOKENS = 8_000
"""The longest hole that an engine with default settings accepts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FillPlan:
    """``text`` with its ``hole``, cut to ``canvas``.

    ``cursor`` is where an editor asked. The hole may begin beside it: not inside a CRLF, and not
    before a byte order mark. For any other place it is the start of the hole. ``after`` stands
    behind the hole in ``text`` alone: the line end of a new line, inserted with the fill.
    """

    text: str
    hole: Hole
    language: Language
    canvas: Canvas
    cursor: int
    after: str = ""
    asked: ChatTurn | None = None  # how a model that follows instructions is asked for the text

    @property
    def is_at_cursor(self) -> bool:
        """Whether the engine's text would be inserted exactly at the cursor, and nothing more."""
        return self.hole.start == self.cursor and not self.after

    @property
    def window(self) -> tuple[int, int]:
        """The offsets at which the text that the model sees begins and ends."""
        shown = self.canvas.window
        return shown.start, self.hole.end + len(shown.suffix)

    def request(
        self,
        options: FillOptions,
        *,
        alternative: int = 0,
        anywhere: bool = False,
        num_candidates: int = 1,
        is_watched: bool = False,
        noise: float | None = None,
    ) -> Fill:
        """Return the message for the engine; alternative 0 is the likeliest fill.

        Another one differs from it ``anywhere``, or from its beginning on.

        With ``noise``, a share of the text in the hole is masked, as a draft to be rewritten.
        """
        canvas = self.canvas
        draft, room = "", canvas.max_tokens
        if noise is not None:
            draft = with_plain_newlines(self.text[self.hole.start : self.hole.end])
            num_tokens = len(draft.encode("utf-8", "replace")) // DRAFT_BYTES_PER_TOKEN
            room = max(room, min(num_tokens + DRAFT_ROOM_TOKENS, MAX_DRAFT_TOKENS))
        return Fill(
            id=0,  # the client numbers its requests
            prefix=canvas.prefix,
            suffix=canvas.suffix,
            given=canvas.given,
            names=self._rests_of(options.names),
            draft=draft,
            noise=1.0 if noise is None else noise,
            asked=self.asked,
            stop=canvas.stop if self.asked is None else (*canvas.stop, f"\n{FENCE}"),
            max_open=canvas.max_open,
            min_indent=canvas.min_indent,
            max_tokens=options.max_tokens or room,
            max_steps=options.max_steps,
            deadline_ms=options.deadline_ms,
            decoding=options.decoding,
            temperature=options.temperature,
            seed=options.seed,
            alternative=alternative,
            anywhere=anywhere,
            num_candidates=num_candidates,
            is_background=options.is_background,
            is_ahead=options.is_ahead,
            watch=is_watched,
            fresh=options.is_fresh,
            project=options.project,
            project_use=options.project_use,
            model=options.model,
        )

    def _rests_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what is left to write of the names that the half-typed word before begins.

        () for more of them than an engine takes.
        """
        if not names:
            return ()
        start = self.hole.start
        while start and is_word_character(self.text[start - 1]):
            start -= 1
        typed = self.text[start : self.hole.start]
        rests = tuple(name[len(typed) :] for name in names if name.startswith(typed))
        return rests if len(rests) <= MAX_NAMES else ()

    def is_named(self, text: str, names: Sequence[str]) -> bool:
        """Whether a text at the cursor begins as ``names`` bind it; () binds nothing."""
        rests = self._rests_of(names)
        return not rests or any(
            text.startswith(rest) and not is_word_character(text[len(rest) :][:1]) for rest in rests
        )

    def read(self, filled: Filled) -> Suggestion | NoSuggestion:
        """Clean the engine's text: what replaces the hole, or why it does not pass."""
        read = self.read_text(filled.text)
        if not filled.text.strip() and filled.finish_reason == "deadline":
            return NoSuggestion(reason=_TOO_LATE, kind="late")
        if isinstance(read, NoSuggestion) and filled.finish_reason == "max_tokens":
            return replace(read, reason=f"{read.reason}: the hole had no room for all of the text")
        return read

    def read_text(self, text: str) -> Suggestion | NoSuggestion:
        """Clean a text of the engine, or its beginning."""
        return clean(text, self.hole, self.canvas)

    def read_at_cursor(self, filled: Filled) -> Suggestion | NoSuggestion:
        """Clean the engine's text: what is inserted at the cursor, or why it does not pass."""
        return self.at_cursor(self.read(filled))

    def at_cursor(self, suggestion: Suggestion | NoSuggestion) -> Suggestion | NoSuggestion:
        """Turn a suggestion into an insertion at the cursor, where it can be shown as one."""
        if isinstance(suggestion, NoSuggestion):
            return suggestion
        text = inserted_at_cursor(suggestion, self.text, self.cursor)
        if isinstance(text, NoSuggestion):
            return text
        return Suggestion(text=text + self.after, start=self.cursor, end=self.cursor)


def plan_fill(hole: Hole, options: FillOptions) -> FillPlan:
    """Plan a fill of a hole: cut the text around it to the budget."""
    return _plan(hole, build_canvas(hole, options.budget), hole.start)


def _plan(hole: Hole, canvas: Canvas, cursor: int, after: str = "") -> FillPlan:
    document = hole.code.outer or hole.code
    return FillPlan(
        text=document.text,
        hole=hole,
        language=document.language,
        canvas=canvas,
        cursor=cursor,
        after=after,
    )


def plan_placeholder(
    hole: Hole, options: FillOptions, others: Sequence[tuple[int, int]]
) -> FillPlan:
    """Plan a fill of one placeholder; the model does not see the ``others``, given as ranges."""
    plan = plan_fill(hole, options)
    shown, shift = hide_other_holes(plan.text, hole, others)
    canvas = plan.canvas
    if shown != plan.text:
        start, end = hole.given_start + shift, hole.end + shift
        view = shown_around(Code(text=shown, language=plan.language), start, end, options.budget)
        canvas = replace(canvas, prefix=view["prefix"], suffix=view["suffix"])
    return replace(plan, canvas=hide_todo(canvas))


def plan_at_cursor(
    text: str,
    cursor: int,
    language: Language,
    options: FillOptions,
    earlier: Sequence[Window] = (),
    first: FirstWindow | None = None,
    *,
    is_word_whole: bool = False,
) -> FillPlan | NoSuggestion:
    """Plan a fill of the hole at the cursor, if there is one: a line or its rest, or a body.

    ``earlier`` are windows that were shown of this text or its older versions, the newest first.
    With ``first`` less may be shown.
    ``is_word_whole``: no letter may follow the word before the cursor.
    """
    opened = open_at_cursor(text, cursor, language, is_word_whole=is_word_whole)
    if isinstance(opened, NoSuggestion):
        return opened
    canvas = build_canvas(opened.hole, options.budget, earlier, first)
    return _plan(opened.hole, canvas, cursor, opened.after)


def to_project_context(
    passages: Iterable[tuple[str, str]], repository: str, path: str
) -> ProjectContext | None:
    """Return the message for passages, given as path and text in the order of reading.

    ``repository`` is the opened folder's name, ``path`` that of the file with the hole in it. None
    if there is no passage: a fill without project context is the same as before.
    """
    chunks = tuple(ContextChunk(path=of, text=text) for of, text in passages if text)
    if not chunks:
        return None
    return ProjectContext(repository=repository, path=path, chunks=chunks)


def inserted_at_cursor(suggestion: Suggestion, source: str, cursor: int) -> str | NoSuggestion:
    """Return the text to insert at the cursor of ``source``, or why it is not an insertion.

    That is the only change which an editor can show as ghost text.
    """
    if not suggestion.start <= cursor <= suggestion.end:
        return NoSuggestion(reason="the suggestion is not at the cursor", kind="elsewhere")
    left, right = source[suggestion.start : cursor], source[cursor : suggestion.end]
    if not suggestion.text.startswith(left):
        return NoSuggestion(reason="the suggestion would change text left of the cursor")
    text = suggestion.text.removeprefix(left)
    if not text.endswith(right):
        return NoSuggestion(reason="the suggestion would change text right of the cursor")
    text = text.removesuffix(right)
    if not text.strip():
        return NoSuggestion(reason="the suggestion adds nothing", kind="empty")
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineCost:
    """Time, forward passes and tokens that the engine spent on one request."""

    ms: float = 0.0
    read_ms: float = 0.0  # of ms: reading the context (prefill)
    num_forwards: int = 0
    num_read: int = 0  # context tokens
    num_reused: int = 0  # context tokens that the engine still had in its cache
    num_project: int = 0  # context tokens of other files, in the fill that had the most
    num_written: int = 0  # tokens of all answers
    nats: float | None = 0.0  # the entropy of all written tokens, summed; None: not known

    def and_then(self, filled: Filled) -> "EngineCost":
        """Return the cost with one more answer added."""
        num_tokens = len(filled.tokens)
        return EngineCost(
            ms=self.ms + filled.ms.total,
            read_ms=self.read_ms + filled.ms.prefill,
            num_forwards=self.num_forwards + filled.num_forwards,
            num_read=self.num_read + filled.num_prefilled,
            num_reused=self.num_reused + filled.num_reused,
            num_project=max(self.num_project, filled.num_project),
            num_written=self.num_written + num_tokens,
            nats=None
            if self.nats is None or filled.mean_entropy is None
            else self.nats + filled.mean_entropy * num_tokens,
        )

    @property
    def mean_entropy(self) -> float | None:
        """Nats per token; None where no token was written, or a server does not say."""
        if self.nats is None or not self.num_written:
            return None
        return self.nats / self.num_written


LEAST_PROBABLE = 0.002
"""Alternatives with a token that is less probable are left out.

Of 120 that began so in files of 44 languages none was the file's text, and 15 broke it.
"""
EXTRA_ATTEMPTS = 1
"""How many more answers are asked for than needed, where one fails or repeats another."""

MAX_WAIT_MS = 1_000
"""After so much writing no alternative is begun for a user who waits. Asked again, they get it."""


class HasText(Protocol):
    """The type that an answer is read as: a suggestion or a ghost text."""

    @property
    def text(self) -> str: ...


T = TypeVar("T", bound=HasText)

ReadAnswer: TypeAlias = Callable[[Filled], T | NoSuggestion]
"""Returns the cleaned text, or the reason why the answer does not pass."""


@dataclass(slots=True)
class Attempts(Generic[T]):
    """Yields the number of each alternative to ask for, until enough different texts pass.

    ``passed`` begins with the texts of the first alternatives that are known already.
    """

    read: ReadAnswer[T]
    num_needed: int = 1
    passed: tuple[T, ...] = ()  # texts that differ in more than the width of blanks
    is_awaited: bool = False  # the first text that passes is shown when all attempts have ended
    rejection: NoSuggestion | None = None  # why the first answer that did not pass was rejected
    failure: NoSuggestion | None = None  # why the engine gave no further answer
    filled: Filled | None = None  # the last answer that passed, else the first answer
    cost: EngineCost | None = None  # of all answers; None if there is no answer
    is_complete: bool = True  # False where asking ended early: the engine failed, or the caller
    is_over: bool = False
    written: tuple[str, ...] = ()  # what the engine wrote, whether it passes or not

    def __iter__(self) -> Iterator[int]:
        for alternative in range(len(self.passed), self.num_needed + EXTRA_ATTEMPTS):
            if self.is_over or len(self.passed) >= self.num_needed:
                return
            if self.is_awaited and self.passed and self._has_taken_long:
                self.is_complete = False
                return
            yield alternative

    @property
    def _has_taken_long(self) -> bool:
        return self.cost is not None and self.cost.ms - self.cost.read_ms > MAX_WAIT_MS

    @property
    def is_cut_short(self) -> bool:
        """Whether the deadline has ended the text."""
        return self.filled is not None and self.filled.finish_reason == "deadline"

    def take(self, answer: Filled | NoSuggestion | None, *, is_final: bool = False) -> None:
        """Record the answer to the last alternative, or why there is none; None ends asking.

        After one that ``is_final`` no alternative is worth asking for.
        """
        self.is_over = is_final
        if not isinstance(answer, Filled):
            self.failure, self.is_complete, self.is_over = answer, False, True
            return
        self.cost = (self.cost or EngineCost()).and_then(answer)
        is_part = any(_ends_within_word(answer.text, other) for other in self.written)
        if _is_improbable(answer) if self.passed else _begins_improbably(answer) and is_part:
            self.is_over = True  # the next alternative would be less probable still
            return
        self.written += (answer.text,)
        candidate, text = first_that_passes(answer, self.read)
        if isinstance(text, NoSuggestion):
            self.rejection, self.filled = self.rejection or text, self.filled or candidate
        elif text.text.split() not in [other.text.split() for other in self.passed]:
            self.passed += (text,)
            self.filled = candidate


def _ends_within_word(text: str, other: str) -> bool:
    """Whether a text is another one up to the middle of a word: ``WH`` of ``WHERE``."""
    around = other[len(text) - 1 : len(text) + 1]
    is_beginning = text != "" and other.startswith(text) and len(around) == 2
    return is_beginning and all(map(is_word_character, around))


def _begins_improbably(answer: Filled) -> bool:
    first = answer.tokens[0].confidence if answer.tokens else None
    return first is not None and first < LEAST_PROBABLE


def _is_improbable(answer: Filled) -> bool:
    known = [it.confidence for it in answer.tokens if it.confidence is not None]
    return min(known, default=1.0) < LEAST_PROBABLE


def first_that_passes(answer: Filled, read: ReadAnswer[T]) -> tuple[Filled, T | NoSuggestion]:
    """Return the best candidate of an answer that passes, else the best one and why it fails."""
    best = answer, read(answer)
    if not isinstance(best[1], NoSuggestion):
        return best
    for other in answer.others:
        candidate = msgspec.structs.replace(answer, others=(), **msgspec.structs.asdict(other))
        text = read(candidate)
        if not isinstance(text, NoSuggestion):
            return candidate, text
    return best
