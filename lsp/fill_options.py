"""The options and the language of a fill, from settings and a document.

Needs the infill package's grammars, so the server imports it on first use.
"""

from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.filling.options import FillOptions
from intarsia.infill.languages import Language, language_for
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.settings import Settings


def options_of(settings: Settings, deadline_ms: int, *, seed: int = 0) -> FillOptions:
    return FillOptions(
        decoding=settings.decoding,
        seed=seed,
        num_candidates=settings.edit_candidates,
        is_fresh=not settings.warm_start,
        deadline_ms=deadline_ms,
        model=settings.model,
        budget=Budget(
            prefix_tokens=settings.max_prefix_tokens,
            suffix_tokens=settings.max_suffix_tokens,
            hole_tokens=settings.max_hole_tokens,
        ),
    )


def language_of(document: Document) -> Language:
    """Return the language by the editor's identifier, else by the file's name."""
    return language_for(document.language_id, document.disk_path or "")
