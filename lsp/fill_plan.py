"""What to ask the engine for one snapshot, and how to read its answer.

The only file of the server that needs the infill package's grammars: imported on first use.
"""

from dataclasses import dataclass

from pygls.uris import to_fs_path

from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.canvas import Budget, Canvas, build_canvas
from intarsia.infill.hole import Hole, find_hole
from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_id, language_for_path
from intarsia.infill.postprocess import clean
from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents import Document
from intarsia.lsp.ghost_text import ghost_text
from intarsia.lsp.settings import Settings
from intarsia.lsp.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class FillPlan:
    """One hole of one snapshot, as the engine gets to see it."""

    snapshot: Snapshot
    settings: Settings
    language: Language
    hole: Hole
    canvas: Canvas

    def request(self, alternative: int, deadline_ms: int) -> Fill:
        """Return the message for the engine; alternative 0 is the greedy fill."""
        return Fill(
            id=0,
            prefix=self.canvas.prefix,
            suffix=self.canvas.suffix,
            given=self.canvas.given,
            stop=self.canvas.stop,
            min_indent=self.canvas.min_indent,
            max_tokens=self.canvas.max_tokens,
            deadline_ms=deadline_ms,
            settle=self.settings.settle,
            alternative=alternative,
            model=self.settings.model,
        )

    def read(self, filled: Filled) -> str | NoSuggestion:
        """Clean the engine's text and place it at the cursor."""
        source = self.snapshot.text
        cleaned = clean(filled.text, source, self.hole, self.canvas, self.language)
        if isinstance(cleaned, NoSuggestion):
            return cleaned
        return ghost_text(cleaned, source, self.snapshot.offset)


def plan_fill(snapshot: Snapshot, settings: Settings) -> FillPlan | NoSuggestion:
    """Find the hole at the cursor and cut the text round it to the budget."""
    language = _language(snapshot.document)
    hole = find_hole(snapshot.text, snapshot.offset, language)
    if isinstance(hole, NoSuggestion):
        return hole
    budget = Budget(
        prefix_tokens=settings.max_prefix_tokens,
        suffix_tokens=settings.max_suffix_tokens,
        hole_tokens=settings.max_hole_tokens,
    )
    canvas = build_canvas(snapshot.text, hole, language, budget)
    return FillPlan(
        snapshot=snapshot, settings=settings, language=language, hole=hole, canvas=canvas
    )


def _language(document: Document) -> Language:
    """An editor that does not know a language calls it plain text; the file's name may tell."""
    named = language_for_id(document.language_id)
    return language_for_path(to_fs_path(document.uri) or "") if named is PLAIN_TEXT else named
