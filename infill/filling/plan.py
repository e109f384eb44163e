"""A planned fill: one hole of one text, the request for the engine, and how its answer is read.

    text, hole ── canvas ──▶ request ── engine ──▶ filled ── filters ──▶ suggestion

A plan is made for a hole, for one of several placeholders, or for the hole at a cursor.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from intarsia.engine.ipc.messages import MAX_NAMES, ContextChunk, Fill, Filled, ProjectContext
from intarsia.infill.canvas.canvas import (
    Budget,
    Canvas,
    build_canvas,
    hide_other_holes,
    hide_todo,
    shown_around,
)
from intarsia.infill.canvas.window import Window
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.holes.hole import Hole, is_word_character, open_at_cursor
from intarsia.infill.languages import Language
from intarsia.infill.postprocess import clean
from intarsia.infill.suggestion import NoSuggestion, Suggestion
from intarsia.infill.syntax.lines import with_plain_newlines

DRAFT_BYTES_PER_TOKEN = 2
"""Fewer than code has: the whole draft must fit into its hole."""

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

    @property
    def is_at_cursor(self) -> bool:
        """Whether the engine's text would be inserted exactly at the cursor, and nothing more."""
        return self.hole.start == self.cursor and not self.after

    @property
    def window(self) -> tuple[int, int]:
        """Where the part of the text that the model sees begins and ends."""
        shown = self.canvas.window
        return shown.start, self.hole.end + len(shown.suffix)

    def request(
        self,
        options: FillOptions,
        *,
        alternative: int = 0,
        num_candidates: int = 1,
        is_watched: bool = False,
        noise: float | None = None,
    ) -> Fill:
        """Return the message for the engine; alternative 0 is the likeliest fill.

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
            stop=canvas.stop,
            max_open=canvas.max_open,
            min_indent=canvas.min_indent,
            max_tokens=options.max_tokens or room,
            max_steps=options.max_steps,
            deadline_ms=options.deadline_ms,
            decoding=options.decoding,
            temperature=options.temperature,
            seed=options.seed,
            alternative=alternative,
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
            text.startswith(rest) and not is_word_character(text[len(rest) :][:1] or " ")
            for rest in rests
        )

    def cut_to(self, budget: Budget, earlier: Sequence[Window]) -> "FillPlan":
        """Return the same plan with another window, as ``plan_fill`` cuts it."""
        shown = shown_around(self.text, self.hole, self.language, budget, earlier)
        return replace(self, canvas=replace(self.canvas, **shown))

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
        return clean(text, self.text, self.hole, self.canvas, self.language)

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


def plan_fill(
    text: str, hole: Hole, language: Language, options: FillOptions, earlier: Sequence[Window] = ()
) -> FillPlan:
    """Plan a fill of a hole: cut the text around it to the budget, as ``earlier`` if possible."""
    canvas = build_canvas(text, hole, language, options.budget, earlier)
    return FillPlan(text=text, hole=hole, language=language, canvas=canvas, cursor=hole.start)


def plan_placeholder(
    text: str,
    hole: Hole,
    language: Language,
    options: FillOptions,
    others: Sequence[tuple[int, int]],
) -> FillPlan:
    """Plan a fill of one placeholder; the model does not see the ``others``, given as ranges."""
    plan = plan_fill(text, hole, language, options)
    shown, moved = hide_other_holes(text, hole, others)
    view = plan.canvas if shown == text else build_canvas(shown, moved, language, options.budget)
    canvas = replace(plan.canvas, prefix=view.prefix, suffix=view.suffix)
    return replace(plan, canvas=hide_todo(canvas))


def plan_at_cursor(
    text: str,
    cursor: int,
    language: Language,
    options: FillOptions,
    earlier: Sequence[Window] = (),
    *,
    is_word_whole: bool = False,
) -> FillPlan | NoSuggestion:
    """Plan a fill of the hole at the cursor, if there is one: a line or its rest, or a body.

    ``earlier`` are windows that were shown of this text or its older versions, the newest first.
    ``is_word_whole``: no letter may follow the word before the cursor.
    """
    opened = open_at_cursor(text, cursor, language, is_word_whole=is_word_whole)
    if isinstance(opened, NoSuggestion):
        return opened
    plan = plan_fill(opened.shown, opened.hole, language, options, earlier)
    return replace(plan, cursor=cursor, after=opened.after)


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
