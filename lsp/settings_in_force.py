"""The settings that count in the window, in each opened folder, and for each language.

Initial options, those of the window and those of folders come at different times; the later ones
override the earlier. The model is the window's: one engine serves all folders.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from intarsia.lsp.documents.documents import Document
from intarsia.lsp.documents.folders import Folder, settings_folder_of
from intarsia.lsp.engine.repository_tuning import choose_model
from intarsia.lsp.language_settings import LanguageSettings
from intarsia.lsp.resolve_settings import resolve_folder_settings, resolve_settings
from intarsia.lsp.settings import Settings

logger = logging.getLogger(__name__)


class SettingsInForce:
    """Keeps all options and opened folders, and resolves them; logs each problem once."""

    def __init__(self) -> None:
        self.window = Settings()
        self.folders: Sequence[Folder] = ()  # that the client has opened
        self._initial_options: Mapping[str, object] = {}
        self._options: object = None  # of the window; they override the initial ones
        self._folder_options: Mapping[str, object] = {}  # by the folder's URI
        self._of_folders: Mapping[str, Settings] = {}  # by the same
        self._of_languages = LanguageSettings()
        self._problems: tuple[str, ...] = ()  # with the current options
        self._model_note: str | None = None

    @property
    def is_enabled(self) -> bool:
        """Whether suggestions are made in the window, or in one of its folders at least."""
        return any(it.enabled for it in self._all())

    @property
    def shows_project(self) -> bool:
        """Whether code of other files is shown in the window, or in one of its folders."""
        return any(it.project_context for it in self._all())

    @property
    def paths(self) -> Sequence[Path]:
        """The opened folders that are on disk."""
        return [folder.path for folder in self.folders if folder.path is not None]

    def start_with(self, options: object, folders: Sequence[Folder]) -> None:
        """Take the options and opened folders of ``initialize``; later options override these."""
        self.folders = folders
        self._initial_options = _as_options(options)
        self._resolve()

    def configure(
        self, options: object, of_folders: Mapping[str, object] = MappingProxyType({})
    ) -> None:
        """Take new options, the window's and those of folders by URI."""
        self._folder_options = {**self._folder_options, **of_folders}
        self._options = options
        self._resolve()

    def change_folders(self, *, added: Sequence[Folder], removed: Sequence[Folder]) -> None:
        """Take the folders that the client has opened and closed."""
        kept = [folder for folder in self.folders if folder not in removed]
        self.folders = (*kept, *(folder for folder in added if folder not in kept))
        self._resolve()

    def of(self, document: Document) -> Settings:
        """Return a document's settings: those of ``settings_folder_of``, else the window's.

        What these have for the document's language goes before. A document that is not a file on
        disk leaves nothing there.
        """
        folder = settings_folder_of(document.file_uri, self.folders)
        uri = None if folder is None or folder.uri not in self._of_folders else folder.uri
        settings = self.window if uri is None else self._of_folders[uri]
        settings = self._of_languages.of(uri, document.language_id) or settings
        if document.disk_path is None:
            return msgspec.structs.replace(settings, keep_contexts=False)
        return settings

    def of_roots(self) -> Mapping[Path, Settings]:
        """Return the settings of each opened folder on disk."""
        return {
            folder.path: self._of_folders.get(folder.uri, self.window)
            for folder in self.folders
            if folder.path is not None
        }

    def _all(self) -> Iterator[Settings]:
        yield self.window
        yield from self._of_folders.values()
        yield from self._of_languages.all()

    def _resolve(self) -> None:
        merged = {**self._initial_options, **_as_options(self._options)}
        settings, problems = resolve_settings(merged)
        choice = choose_model(settings, self.paths)
        self.window = msgspec.structs.replace(settings, model=choice.model)
        if choice.note is not None and choice.note != self._model_note:
            logger.info("%s", choice.note)
        self._model_note = choice.note
        problems += self._resolve_folders()
        problems += self._of_languages.resolve(self.window, self._of_folders)
        for problem in problems:
            if problem not in self._problems:
                logger.warning("%s", problem)
        self._problems = problems

    def _resolve_folders(self) -> tuple[str, ...]:
        """Resolve the options of the opened folders; return what is wrong with these."""
        opened = {folder.uri for folder in self.folders}
        self._folder_options = {
            uri: options for uri, options in self._folder_options.items() if uri in opened
        }
        found = {
            uri: resolve_folder_settings(self.window, _as_options(options))
            for uri, options in self._folder_options.items()
        }
        self._of_folders = {uri: settings for uri, (settings, _) in found.items()}
        return tuple(f"{uri}: {line}" for uri, (_, problems) in found.items() for line in problems)


def _as_options(options: object) -> Mapping[str, object]:
    if not options:  # Lua has one empty table: it is sent as a list
        return {}
    if not isinstance(options, Mapping):
        logger.warning("ignored the options: they must be an object, not %r", options)
        return {}
    return options
