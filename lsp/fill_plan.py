"""What to ask the engine for one snapshot, and how to read its answer as ghost text.

Needs the infill package's grammars, which the server loads on first use.
"""

from dataclasses import dataclass

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.filling import planned_fill
from intarsia.filling.planned_fill import PlannedFill
from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.hole import find_hole
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.token_alignment import align
from intarsia.lsp.fill_options import language_of, options_of
from intarsia.lsp.ghost_text import GhostText, ghost_text
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class FillPlan:
    """One hole of one snapshot, as the engine gets to see it."""

    snapshot: Snapshot
    settings: Settings
    planned: PlannedFill

    @property
    def is_at_cursor(self) -> bool:
        """Whether the engine's text, as it is, would be inserted at the cursor."""
        return self.planned.hole.start == self.snapshot.offset

    def request(self, alternative: int, deadline_ms: int, *, is_watched: bool = False) -> Fill:
        """Return the message for the engine; alternative 0 is the greedy fill."""
        options = options_of(self.settings, deadline_ms)
        return self.planned.request(options, alternative=alternative, is_watched=is_watched)

    def read(self, filled: Filled) -> GhostText | NoSuggestion:
        """Clean the engine's text and place it at the cursor."""
        cleaned = self.planned.read(filled)
        if isinstance(cleaned, NoSuggestion):
            return cleaned
        text = ghost_text(cleaned, self.snapshot.text, self.snapshot.offset)
        if isinstance(text, NoSuggestion):
            return text
        written = [ConfidentToken(token.text, token.confidence) for token in filled.tokens]
        return GhostText(text, align(written, text))


def plan_fill(snapshot: Snapshot, settings: Settings) -> FillPlan | NoSuggestion:
    """Find the hole at the cursor and cut the text round it to the budget."""
    language = language_of(snapshot.document)
    hole = find_hole(snapshot.text, snapshot.offset, language)
    if isinstance(hole, NoSuggestion):
        return hole
    options = options_of(settings, settings.deadline_ms)
    planned = planned_fill.plan_fill(snapshot.text, hole, language, options)
    return FillPlan(snapshot=snapshot, settings=settings, planned=planned)
