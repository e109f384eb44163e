"""Decides whether a document gets suggestions, by the settings, its language and its path."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from intarsia.infill.suggestion import NoSuggestion
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.documents.folders import Folder, folder_of
from intarsia.lsp.settings import Settings
from intarsia.workspace.files.exclusion import SECRETS, excluding_pattern


def ineligibility(
    settings: Settings, document: Document, folders: Iterable[Folder] = ()
) -> NoSuggestion | None:
    """Return why the document gets no suggestions, None where it gets them.

    A document that is no file on disk has to be in one of the opened folders, or be new.
    """
    if not settings.enabled:
        return NoSuggestion(reason="suggestions are switched off (option enabled)")
    if document.language_id in settings.disabled_languages:
        return NoSuggestion(reason=f"{document.language_id} is among disabledLanguages")
    uri = urlsplit(document.file_uri)
    if uri.scheme == "untitled":  # a new file, not saved yet
        return None
    if uri.scheme != "file" and folder_of(document.file_uri, folders) is None:
        return NoSuggestion(reason="the document is not a file on disk")
    return _excluded(settings, PurePosixPath(document.disk_path or unquote(uri.path)))


def _excluded(settings: Settings, path: PurePosixPath) -> NoSuggestion | None:
    secrets = SECRETS if settings.exclude_secrets else ()
    if pattern := excluding_pattern(path, (*settings.exclude, *secrets)):
        return NoSuggestion(reason=f"{path.name} is excluded by the pattern {pattern!r}")
    return None
