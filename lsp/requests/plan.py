"""What to ask the engine for one snapshot, and how to read its answer as ghost text.

Needs the infill package's grammars, which the server loads on first use.
"""

from dataclasses import dataclass

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.confidence import ConfidentToken
from intarsia.infill.filling.plan import CursorFill, plan_at_cursor
from intarsia.infill.postprocess.align_tokens import align
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.fill_options import language_of, options_of
from intarsia.lsp.settings import Settings
from intarsia.lsp.suggestions.ghost_text import GhostText


@dataclass(frozen=True, kw_only=True, slots=True)
class FillPlan:
    """One hole of one snapshot, as the engine gets to see it."""

    snapshot: Snapshot
    settings: Settings
    at_cursor: CursorFill

    @property
    def is_at_cursor(self) -> bool:
        """Whether the engine's text, as it is, would be inserted at the cursor."""
        return self.at_cursor.is_at_cursor

    def request(self, alternative: int, deadline_ms: int, *, is_watched: bool = False) -> Fill:
        """Return the message for the engine; alternative 0 is the greedy fill."""
        options = options_of(self.settings, deadline_ms)
        planned = self.at_cursor.planned
        return planned.request(options, alternative=alternative, is_watched=is_watched)

    def read(self, filled: Filled) -> GhostText | NoSuggestion:
        """Clean the engine's text and place it at the cursor."""
        text = self.at_cursor.read(filled)
        if isinstance(text, NoSuggestion):
            return text
        written = [ConfidentToken(token.text, token.confidence) for token in filled.tokens]
        return GhostText(text, align(written, text))


def plan_fill(snapshot: Snapshot, settings: Settings) -> FillPlan | NoSuggestion:
    """Find the hole at the cursor and cut the text round it to the budget."""
    options = options_of(settings, settings.deadline_ms)
    language = language_of(snapshot.document)
    planned = plan_at_cursor(snapshot.text, snapshot.offset, language, options)
    if isinstance(planned, NoSuggestion):
        return planned
    return FillPlan(snapshot=snapshot, settings=settings, at_cursor=planned)
