"""No automatic suggestion in comments and strings, unless the settings want some there."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.settings import Settings

if TYPE_CHECKING:
    from intarsia.infill.syntax.prose import Prose

_IN_COMMENT = NoSuggestion(reason="the cursor is in a comment (inComments)", kind="comment")
_REASONS: "Mapping[Prose, NoSuggestion]" = {
    "comment": _IN_COMMENT,
    "documentation": _IN_COMMENT,
    "string": NoSuggestion(reason="the cursor is in a string (inStrings)", kind="string"),
}


def prose_silence(settings: Settings, snapshot: Snapshot) -> NoSuggestion | None:
    """Return why the settings want nothing at a cursor, None where it is in code."""
    from intarsia.infill.syntax.parse import parse
    from intarsia.infill.syntax.prose import prose_at
    from intarsia.lsp.fill_options import language_of

    if settings.in_strings and settings.in_comments == "always":
        return None
    prose = prose_at(parse(snapshot.text, language_of(snapshot.document)), snapshot.offset)
    if prose is None or prose in _wanted(settings):
        return None
    return _REASONS[prose]


def _wanted(settings: Settings) -> "set[Prose]":
    wanted: set[Prose] = {"string"} if settings.in_strings else set()
    if settings.in_comments != "never":
        wanted.add("documentation")
    if settings.in_comments == "always":
        wanted.add("comment")
    return wanted
