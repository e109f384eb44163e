"""Decides whether a document gets suggestions, by the settings, its language and its path."""

from pathlib import PurePath

from pygls.uris import to_fs_path, uri_scheme

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.settings import Settings
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern


def ineligibility(settings: Settings, document: Document) -> NoSuggestion | None:
    """Return why the document gets no suggestions, None where it gets them."""
    if not settings.enabled:
        return NoSuggestion(reason="suggestions are switched off (option enabled)")
    if document.language_id in settings.disabled_languages:
        return NoSuggestion(reason=f"{document.language_id} is among disabledLanguages")
    scheme, path = uri_scheme(document.file_uri), to_fs_path(document.file_uri)
    if scheme == "untitled":  # a new file, not saved yet
        return None
    if scheme != "file" or path is None:
        return NoSuggestion(reason="the document is not a file on disk")
    return _excluded(settings, PurePath(path))


def _excluded(settings: Settings, path: PurePath) -> NoSuggestion | None:
    secrets = SECRETS if settings.exclude_secrets else ()
    if pattern := excluding_pattern(path, (*settings.exclude, *secrets)):
        return NoSuggestion(reason=f"{path.name} is excluded by the pattern {pattern!r}")
    return None
