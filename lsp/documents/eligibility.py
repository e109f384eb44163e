"""Decides by the settings alone where suggestions are given, and how they are filled.

In which documents, by language and path; in which fences of Markdown; and, for automatic requests,
whether in comments and strings. ``lsp/manners.py`` goes by what the user does.
Needs the infill package's grammars, so the server imports it on first use.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from intarsia.infill.canvas import Budget
from intarsia.infill.filling.plan import FillOptions
from intarsia.infill.languages import PLAIN_TEXT, Language, language_for_id
from intarsia.infill.suggestion import NoSuggestion
from intarsia.infill.syntax.embedded_code import code_at
from intarsia.infill.syntax.tree import Prose, parse, prose_at
from intarsia.lsp.documents.documents import Document, Snapshot
from intarsia.lsp.documents.folders import Folder, folder_of, scheme_of, uri_path
from intarsia.lsp.settings import Settings
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern, excluding_pattern_on_disk

_VIEWS = ("", "git", "gitlens", "fugitive", "diffview", "jdt", "output", "debug", "comment")
"""Schemes of documents that editors show and nobody writes in. A malformed URI has none."""


def ineligibility(
    settings: Settings, document: Document, folders: Iterable[Folder] = ()
) -> NoSuggestion | None:
    """Return why the document gets no suggestions, None where it gets them.

    A document need not be a file on disk, but a view of one gets none. A new document may already
    have the path under which it will be saved.
    """
    if not settings.enabled:
        return NoSuggestion(reason="suggestions are switched off (option enabled)", kind="off")
    if document.language_id in settings.disabled_languages:
        reason = f"{document.language_id} is in disabledLanguages"
        return NoSuggestion(reason=reason, kind="language")
    uri = document.file_uri
    if scheme_of(uri) in _VIEWS and folder_of(uri, folders) is None:
        reason = "the document is not a file on disk, but a view of one: open the file itself"
        return NoSuggestion(reason=reason, kind="excluded")
    path, secrets = uri_path(uri), SECRETS if settings.exclude_secrets else ()
    is_on_disk = scheme_of(uri) == "file"
    find_pattern = excluding_pattern_on_disk if is_on_disk else excluding_pattern
    if pattern := find_pattern(path, (*settings.exclude, *secrets)):
        reason = f"{path.name} is excluded by the pattern {pattern!r}"
        return NoSuggestion(reason=reason, kind="excluded")
    return None


def fence_ineligibility(
    disabled_languages: Iterable[str], text: str, start: int, end: int, language: Language
) -> NoSuggestion | None:
    """Return why a range of the text gets none: it is in a fence of a disabled language."""
    if not language.has_fences or not disabled_languages:
        return None
    code = code_at(text, start, end, language).language
    disabled = {language_for_id(name).id for name in disabled_languages}
    if code.id == language.id or code.id not in disabled - {PLAIN_TEXT.id}:
        return None
    reason = f"{code.id} is in disabledLanguages, also in Markdown"
    return NoSuggestion(reason=reason, kind="language")


_IN_COMMENT = NoSuggestion(reason="the cursor is in a comment (inComments)", kind="comment")
_REASONS: Mapping[Prose, NoSuggestion] = {
    "comment": _IN_COMMENT,
    "documentation": _IN_COMMENT,
    "string": NoSuggestion(reason="the cursor is in a string (inStrings)", kind="string"),
}


def prose_silence(snapshot: Snapshot) -> NoSuggestion | None:
    """Return why an automatic request gets nothing in this comment or string, None elsewhere."""
    settings = snapshot.settings
    if settings.in_strings and settings.in_comments == "always":
        return None
    prose = prose_at(parse(snapshot.text, snapshot.language), snapshot.offset)
    if prose is None or prose in _wanted(settings):
        return None
    return _REASONS[prose]


def _wanted(settings: Settings) -> set[Prose]:
    wanted: set[Prose] = {"string"} if settings.in_strings else set()
    if settings.in_comments != "never":
        wanted.add("documentation")
    if settings.in_comments == "always":
        wanted.add("comment")
    return wanted


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
