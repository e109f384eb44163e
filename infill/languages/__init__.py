"""The known languages, each in a file here that nothing else names. Any other file is plain text.

To add one, add its file. A query in ``workspace/symbols/queries`` finds what its files define and
import, and a row in ``research/holes/node_table.py`` lets it be evaluated. An editor waits for the
server to start, so the files are loaded when the first language is asked for, and grammars later.
"""

from functools import cache
from importlib import import_module
from pathlib import PurePath
from pkgutil import iter_modules

from intarsia.infill.languages.language import Grammar, Language

__all__ = [
    "PLAIN_TEXT",
    "Grammar",
    "Language",
    "all_languages",
    "language_for",
    "language_for_id",
    "language_for_name",
    "language_for_path",
]

PLAIN_TEXT = Language(id="plaintext", lexer="text")


@cache
def all_languages() -> tuple[Language, ...]:
    """Return all languages, in the order of their files."""
    files = (import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__))
    return tuple(one for file in files for one in getattr(file, "LANGUAGES", ()))


def language_for_id(language_id: str) -> Language:
    """Return the language of an LSP language id or of an alias, else plain text."""
    return _by_id().get(language_id.lower(), PLAIN_TEXT)


def language_for_name(name: str) -> Language:
    """Return the language that Markdown or a ``#!`` line names, else plain text."""
    return _by_id().get(name) or _by_other_name().get(name, PLAIN_TEXT)


def language_for_path(path: str) -> Language:
    """Return the language of a file's name or extension, else plain text."""
    name = PurePath(path).name
    known = _by_file_name()
    return known.get(name) or known.get(PurePath(name).suffix.lower(), PLAIN_TEXT)


def language_for(language_id: str, path: str) -> Language:
    """Return the language of the id, else of the path: an editor may not know the language."""
    named = language_for_id(language_id)
    return language_for_path(path) if named is PLAIN_TEXT else named


@cache
def _by_id() -> dict[str, Language]:
    return {name: one for one in all_languages() for name in (one.id, *one.aliases)}


@cache
def _by_other_name() -> dict[str, Language]:
    return {name: it for it in all_languages() for name in (*it.fence_names, *it.interpreters)}


@cache
def _by_file_name() -> dict[str, Language]:
    return {name: one for one in all_languages() for name in (*one.extensions, *one.filenames)}
