"""The options of a fill, from settings.

Needs the infill package's grammars, so the server imports it on first use.
"""

from typing import Any

from intarsia.infill.canvas.canvas import Budget
from intarsia.infill.filling.options import FillOptions
from intarsia.lsp.settings import Settings


def options_of(settings: Settings, deadline_ms: int, **others: Any) -> FillOptions:
    """Return the options; ``others`` are fields that no setting is for."""
    return FillOptions(
        decoding=settings.decoding,
        num_candidates=settings.edit_candidates,
        is_fresh=not settings.warm_start,
        deadline_ms=deadline_ms,
        model=settings.model,
        budget=Budget(
            prefix_tokens=settings.max_prefix_tokens,
            suffix_tokens=settings.max_suffix_tokens,
            hole_tokens=settings.max_hole_tokens,
        ),
        **others,
    )
