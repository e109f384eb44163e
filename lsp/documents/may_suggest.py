"""Decides whether a document gets suggestions, by the settings, its language and its path."""

from collections.abc import Iterable
from pathlib import PurePath

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.documents.folders import Folder, folder_of, scheme_of, uri_path
from intarsia.lsp.settings import Settings
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern


def ineligibility(
    settings: Settings, document: Document, folders: Iterable[Folder] = ()
) -> NoSuggestion | None:
    """Return why the document gets no suggestions, None where it gets them.

    A document that is no file on disk has to be in one of the opened folders, or be new. A new one
    may have the path already that it will be saved under.
    """
    if not settings.enabled:
        return NoSuggestion(reason="suggestions are switched off (option enabled)")
    if document.language_id in settings.disabled_languages:
        return NoSuggestion(reason=f"{document.language_id} is among disabledLanguages")
    uri = document.file_uri
    if scheme_of(uri) not in ("file", "untitled") and folder_of(uri, folders) is None:
        return NoSuggestion(reason="the document is not a file on disk")
    return _excluded(settings, uri_path(uri))


def _excluded(settings: Settings, path: PurePath) -> NoSuggestion | None:
    secrets = SECRETS if settings.exclude_secrets else ()
    if pattern := excluding_pattern(path, (*settings.exclude, *secrets)):
        return NoSuggestion(reason=f"{path.name} is excluded by the pattern {pattern!r}")
    return None
