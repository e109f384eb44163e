"""One hole of one text as the engine gets to see it, and how its answer is read.

Comes in: text, hole, language, options; goes out: the engine's message, then a suggestion.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.canvas.canvas import Canvas, build_canvas
from intarsia.infill.canvas.hide_other_holes import without_note, without_others
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.holes.hole import Hole, find_hole, hole_for_range
from intarsia.infill.languages import Language
from intarsia.infill.postprocess import clean
from intarsia.infill.suggestion import NoSuggestion, Suggestion, inserted_at_cursor
from intarsia.infill.syntax.lines import with_plain_newlines

EXTRA_ATTEMPTS = 1
"""So many more alternatives are asked for where a fill does not hold, or says what another said."""

DRAFT_BYTES_PER_TOKEN = 2
"""Fewer than code has: a draft must fit into its hole whole."""

DRAFT_ROOM_TOKENS = 16
"""By so much a rewritten text may be longer than its draft."""

MAX_DRAFT_TOKENS = 8_000
"""An engine, as it is by default, takes no more in one hole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedFill:
    """``text`` with its ``hole``, cut to ``canvas``."""

    text: str
    hole: Hole
    language: Language
    canvas: Canvas

    def request(
        self,
        options: FillOptions,
        *,
        alternative: int = 0,
        num_candidates: int = 1,
        is_watched: bool = False,
    ) -> Fill:
        """Return the message for the engine; alternative 0 is the likeliest fill."""
        canvas = self.canvas
        return Fill(
            id=0,  # the client numbers its requests
            prefix=canvas.prefix,
            suffix=canvas.suffix,
            given=canvas.given,
            stop=canvas.stop,
            max_open=canvas.max_open,
            min_indent=canvas.min_indent,
            max_tokens=options.max_tokens or canvas.max_tokens,
            max_steps=options.max_steps,
            deadline_ms=options.deadline_ms,
            decoding=options.decoding,
            temperature=options.temperature,
            seed=options.seed,
            alternative=alternative,
            num_candidates=num_candidates,
            is_background=options.is_background,
            watch=is_watched,
            fresh=options.is_fresh,
            model=options.model,
        )

    def rewriting(self, options: FillOptions, noise: float, *, is_watched: bool = False) -> Fill:
        """Return the message by which a share ``noise`` of what stands in the hole is masked."""
        draft = with_plain_newlines(self.text[self.hole.start : self.hole.end])
        request = self.request(options, is_watched=is_watched)
        num_bytes = len(draft.encode("utf-8", "replace"))
        room = min(num_bytes // DRAFT_BYTES_PER_TOKEN + DRAFT_ROOM_TOKENS, MAX_DRAFT_TOKENS)
        return msgspec.structs.replace(
            request,
            draft=draft,
            noise=noise,
            max_tokens=options.max_tokens or max(request.max_tokens, room),
        )

    def read(self, filled: Filled) -> Suggestion | NoSuggestion:
        """Clean the engine's text."""
        return clean(filled.text, self.text, self.hole, self.canvas, self.language)


def plan_fill(text: str, hole: Hole, language: Language, options: FillOptions) -> PlannedFill:
    """Cut the text round the hole to the budget."""
    canvas = build_canvas(text, hole, language, options.budget)
    return PlannedFill(text=text, hole=hole, language=language, canvas=canvas)


def plan_unwritten(
    text: str,
    hole: Hole,
    language: Language,
    options: FillOptions,
    others: Sequence[tuple[int, int]],
) -> PlannedFill:
    """Do the same for one of several places that are unwritten: the model sees no other of them."""
    plan = plan_fill(text, hole, language, options)
    seen, moved = without_others(text, hole, others)
    view = plan.canvas if seen == text else build_canvas(seen, moved, language, options.budget)
    canvas = replace(plan.canvas, prefix=view.prefix, suffix=view.suffix)
    return replace(plan, canvas=without_note(canvas))


@dataclass(frozen=True, kw_only=True, slots=True)
class CursorFill:
    """``planned`` is the hole at ``cursor``; it may begin beside it (in a CRLF)."""

    planned: PlannedFill
    cursor: int

    @property
    def is_at_cursor(self) -> bool:
        """Whether the engine's text, as it is, would be inserted at the cursor."""
        return self.planned.hole.start == self.cursor

    def read(self, filled: Filled) -> str | NoSuggestion:
        """Clean the engine's text and place it at the cursor."""
        return self.place(self.planned.read(filled))

    def place(self, found: Suggestion | NoSuggestion) -> str | NoSuggestion:
        """Place what was found at the cursor."""
        if isinstance(found, NoSuggestion):
            return found
        return inserted_at_cursor(found, self.planned.text, self.cursor)


def plan_at_cursor(
    text: str, cursor: int, language: Language, options: FillOptions
) -> CursorFill | NoSuggestion:
    """Find the hole at the cursor and cut the text round it to the budget."""
    hole = find_hole(text, cursor, language)
    if isinstance(hole, NoSuggestion):
        return hole
    return CursorFill(planned=plan_fill(text, hole, language, options), cursor=cursor)


def plan_span_at_cursor(
    text: str, cursor: int, language: Language, options: FillOptions
) -> CursorFill:
    """Do the same for text of any length: what a user asks for who names an empty range."""
    hole = hole_for_range(text, cursor, cursor, language)
    return CursorFill(planned=plan_fill(text, hole, language, options), cursor=cursor)
