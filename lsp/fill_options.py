"""From settings and documents to what a fill needs to know: its options and its language.

Imports the infill package's grammars: imported on first use, with whatever imports it.
"""

from pygls.uris import to_fs_path

from intarsia.filling.options import FillOptions
from intarsia.infill.canvas import Budget
from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_id, language_for_path
from intarsia.lsp.documents import Document
from intarsia.lsp.settings import Settings


def options_of(settings: Settings, deadline_ms: int, *, seed: int = 0) -> FillOptions:
    """Return how to fill under these settings."""
    return FillOptions(
        settle=settings.settle,
        seed=seed,
        deadline_ms=deadline_ms,
        model=settings.model,
        budget=Budget(
            prefix_tokens=settings.max_prefix_tokens,
            suffix_tokens=settings.max_suffix_tokens,
            hole_tokens=settings.max_hole_tokens,
        ),
    )


def language_of(document: Document) -> Language:
    """An editor that does not know a language calls it plain text; the file's name may tell."""
    named = language_for_id(document.language_id)
    return language_for_path(to_fs_path(document.uri) or "") if named is PLAIN_TEXT else named
