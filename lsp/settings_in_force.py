"""The settings that count in the window, in each opened folder, and for each language.

Initial options, those of the window and those of folders come at different times; the later ones
override the earlier. A bad option is reported, and keeps the value that is in force without it.
The model is the window's: one engine serves all folders.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from intarsia.engine.ipc.plain_json import as_meant
from intarsia.lsp.documents import Document, Folder, settings_folder_of
from intarsia.lsp.settings import FOLDER_OPTIONS, LANGUAGE_OPTIONS, OPTIONS, Settings

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
        # by the folder's URI, None for the window, and by the language's identifier
        self._of_languages: Mapping[str | None, Mapping[str, Settings]] = {}
        self._of_documents: dict[tuple[str, str], Settings] = {}  # by file and language
        self._problems: tuple[str, ...] = ()  # with the current options

    @property
    def is_enabled(self) -> bool:
        """Whether suggestions are made in the window, or in one of its folders at least."""
        return any(it.enabled for it in self._all())

    @property
    def shows_project(self) -> bool:
        """Whether code of other files is shown in the window, or in one of its folders."""
        return any(it.project_context for it in self._all())

    def start_with(self, options: object, folders: Sequence[Folder]) -> None:
        """Apply the options and opened folders of ``initialize``; later options override these."""
        self.folders = folders
        self._initial_options = _as_options(options)
        self._resolve()

    def configure(
        self, options: object, of_folders: Mapping[str, object], opened: Iterable[Document]
    ) -> Collection[str] | None:
        """Apply new options, the window's and those of folders by URI.

        Return the URIs of the opened documents that have other settings now; None: all may.
        """
        window, before = self.window, {document: self.of(document) for document in opened}
        self._folder_options = {**self._folder_options, **of_folders}
        self._options = options
        self._resolve()
        others = {it.uri for it, settings in before.items() if settings != self.of(it)}
        return others if self.window == window else None

    def change_folders(self, *, added: Sequence[Folder], removed: Sequence[Folder]) -> None:
        """Apply the folders that the client has opened and closed."""
        kept = [folder for folder in self.folders if folder not in removed]
        self.folders = (*kept, *(folder for folder in added if folder not in kept))
        self._resolve()

    def of(self, document: Document) -> Settings:
        """Return a document's settings: those of ``settings_folder_of``, else the window's.

        What these have for the document's language goes before.
        """
        key = document.file_uri, document.language_id
        if key not in self._of_documents:
            self._of_documents[key] = self._find(*key)
        return self._of_documents[key]

    def _find(self, file_uri: str, language_id: str) -> Settings:
        folder = settings_folder_of(file_uri, self.folders)
        uri = None if folder is None or folder.uri not in self._of_folders else folder.uri
        settings = self.window if uri is None else self._of_folders[uri]
        return self._of_languages.get(uri, {}).get(language_id, settings)

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
        for of_languages in self._of_languages.values():
            yield from of_languages.values()

    def _resolve(self) -> None:
        merged = {**self._initial_options, **_as_options(self._options)}
        self.window, problems = resolve_settings(merged)
        problems += self._resolve_folders()
        problems += self._resolve_languages()
        for problem in problems:
            if problem not in self._problems:
                logger.warning("%s", problem)
        self._problems = problems
        self._of_documents.clear()

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

    def _resolve_languages(self) -> tuple[str, ...]:
        """Resolve what single languages have for themselves; return what is wrong with it."""
        found = {
            uri: resolve_language_settings(settings)
            for uri, settings in ((None, self.window), *self._of_folders.items())
        }
        self._of_languages = {uri: of_languages for uri, (of_languages, _) in found.items()}
        return tuple(dict.fromkeys(line for _, problems in found.values() for line in problems))


def _as_options(options: object) -> Mapping[str, object]:
    if not options:  # Lua has one empty table: it is sent as a list
        return {}
    if not isinstance(options, Mapping):
        logger.warning("ignored the options: they must be an object, not %r", options)
        return {}
    return options


def resolve_settings(options: Mapping[str, object]) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings, and one line for each option that is unusable.

    An option that is None keeps its default.
    """
    problems: list[str] = []
    fields = _usable(options, problems, kept="its default")
    return Settings(**fields), tuple(problems)


def resolve_folder_settings(
    window: Settings, options: Mapping[str, object]
) -> tuple[Settings, tuple[str, ...]]:
    """Return a folder's settings, and one line for each option that is unusable.

    The window's settings hold in the folder where its options say nothing, and always for what is
    not among ``FOLDER_OPTIONS``: no folder chooses the model. Nor does one send its secrets away.
    """
    problems: list[str] = []
    own = {key: value for key, value in options.items() if key in FOLDER_OPTIONS}
    if (window.model or "").startswith("remote:"):
        own.pop("excludeSecrets", None)
    fields = _usable(own, problems, kept="the window's value")
    return msgspec.structs.replace(window, **fields), tuple(problems)


def resolve_language_settings(settings: Settings) -> tuple[Mapping[str, Settings], tuple[str, ...]]:
    """Return the settings in each language that has its own, and one line for each bad value."""
    found: dict[str, Settings] = {}
    problems: list[str] = []
    for language, options in settings.languages.items():
        mine: list[str] = []
        known = {key: value for key, value in options.items() if key in LANGUAGE_OPTIONS}
        mine += [f"option {key!r} is not per-language" for key in options.keys() - known.keys()]
        fields = _usable(known, mine, kept="the value of all languages")
        found[language] = msgspec.structs.replace(settings, **fields)
        problems += [f"languages, {language!r}: {line}" for line in sorted(mine)]
    return found, tuple(problems)


def _usable(options: Mapping[str, object], problems: list[str], *, kept: str) -> dict[str, Any]:
    """Return the values that are given and valid, by field."""
    fields: dict[str, Any] = {}
    for key, value in options.items():
        if key not in OPTIONS:
            problems.append(f"unknown option {key!r}; known ones: {', '.join(OPTIONS)}")
        elif value is not None:
            option = OPTIONS[key]
            try:
                fields[option.name] = msgspec.convert(as_meant(value), option.type)
            except msgspec.ValidationError as error:
                problems.append(f"option {key!r} keeps {kept}: {error}")
    return fields


LONGEST_WAIT_S = 2.0
"""Settings come within milliseconds, unless the client does not answer."""


class SettingsRequests:
    """The open requests. Each ``begin`` is followed by one ``end`` with the number that it gave."""

    def __init__(self, on_end: Callable[[], None] = lambda: None) -> None:
        """``on_end`` is called when an answer is in force, or is not waited for any longer."""
        self._on_end = on_end
        self._numbers = itertools.count()
        self._open: dict[int, asyncio.TimerHandle] = {}
        self._settled = asyncio.Event()
        self._settled.set()

    @property
    def is_open(self) -> bool:
        """Whether an answer is missing that is still waited for."""
        return bool(self._open)

    def is_waited_for(self, number: int) -> bool:
        """Whether this request's answer is missing and still waited for."""
        return number in self._open

    def begin(self) -> int:
        """Announce a request for settings; wait for them for ``LONGEST_WAIT_S``."""
        number, loop = next(self._numbers), asyncio.get_running_loop()
        self._open[number] = loop.call_later(LONGEST_WAIT_S, self._give_up, number)
        self._settled.clear()
        return number

    def end(self, number: int) -> None:
        """Record that the answer is in force, or that there is none. A late one is in force."""
        self._drop(number)
        self._on_end()

    def _drop(self, number: int) -> None:
        timer = self._open.pop(number, None)
        if timer is not None:
            timer.cancel()
        if not self._open:
            self._settled.set()

    def end_all(self) -> None:
        """Wait for no answer any longer."""
        for number in list(self._open):
            self._drop(number)

    async def settled(self) -> None:
        """Return once each answer is in force, or came too late."""
        await self._settled.wait()

    def _give_up(self, number: int) -> None:
        logger.warning("the client does not send its settings: the earlier ones stay in force")
        self.end(number)
