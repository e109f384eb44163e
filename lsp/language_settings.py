"""The settings that single languages have for themselves, in the window and in each folder."""

from collections.abc import Iterator, Mapping

from intarsia.lsp.resolve_settings import resolve_language_settings
from intarsia.lsp.settings import Settings


class LanguageSettings:
    """Settings by folder and language identifier."""

    def __init__(self) -> None:
        self._of: Mapping[str | None, Mapping[str, Settings]] = {}

    def resolve(self, window: Settings, folders: Mapping[str, Settings]) -> tuple[str, ...]:
        """Take the settings of the window, and of folders by URI; return what is wrong in them."""
        found = {
            uri: resolve_language_settings(settings)
            for uri, settings in ((None, window), *folders.items())
        }
        self._of = {uri: of_languages for uri, (of_languages, _) in found.items()}
        return tuple(dict.fromkeys(line for _, problems in found.values() for line in problems))

    def of(self, folder: str | None, language_id: str) -> Settings | None:
        """Return a language's settings in a folder; None if it has none of its own there."""
        return self._of.get(folder, {}).get(language_id)

    def all(self) -> Iterator[Settings]:
        """Yield the settings of each language that has its own."""
        for of_languages in self._of.values():
            yield from of_languages.values()
