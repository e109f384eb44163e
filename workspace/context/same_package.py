"""Names that a file may use without an import: those of other files of its package or namespace.

Go, Java, C# and others see the files of their own folder or namespace. No import tells which, so a
name that the code near the hole mentions is looked up in the index, and the nearest file is taken.
"""

import posixpath
from collections.abc import Iterator

from intarsia.workspace.context.candidate import Surroundings
from intarsia.workspace.context.imported import TYPES, last_part, members_of
from intarsia.workspace.context.place import extensions_of
from intarsia.workspace.context.ranked import Reached
from intarsia.workspace.symbols.symbols import Definition

LANGUAGES = frozenset(
    {"go", "java", "kotlin", "csharp", "swift", "scala", "php", "ruby", "dart", "c", "cpp", "rust"}
)
MAX_NAMES = 16
MAX_FOUND = 24


def named_definitions(around: Surroundings) -> Iterator[Reached]:
    """Yield what the names near the hole mean in other files of the package, with members."""
    if around.place.language.id not in LANGUAGES:
        return
    own = {one.name for one in around.symbols.definitions}
    mentions = around.neighbourhood.mentions
    others = sorted(mentions.keys() - own, key=lambda name: (-mentions[name], name))
    for name in others[:MAX_NAMES]:
        found = named_definition(around, name)
        if found is None:
            continue
        path, definition = found
        yield Reached(path=path, definition=definition, relation="named", local=name)
        symbols = around.symbols_of(path)
        if symbols is not None and definition.kind in TYPES:
            for member in members_of(symbols, name):
                yield Reached(
                    path=path, definition=member, relation="member", local=member.name, owner=name
                )


def named_definition(around: Surroundings, name: str) -> tuple[str, Definition] | None:
    """Return the nearest definition of a name that the file can mean, None if there is none."""
    place = around.place
    if place.language.id not in LANGUAGES:
        return None
    packages = {last_part(one.module) for one in around.symbols.imports}
    folder, endings = posixpath.dirname(place.path), extensions_of(place.path, place.language)
    found = [
        one
        for one in around.index.definitions_named(name, limit=MAX_FOUND)
        if not one.definition.container
        and posixpath.splitext(one.path)[1] in endings
        and around.may_show(one.path)
        and _is_in_reach(one.path, folder, packages, place.language.id)
    ]
    nearest = min(
        found,
        key=lambda one: (-len(posixpath.commonpath([one.path, place.path])), one.path),
        default=None,
    )
    return (nearest.path, nearest.definition) if nearest else None


def _is_in_reach(path: str, folder: str, packages: set[str], language: str) -> bool:
    """In Go a name is of the same folder or of an imported one; elsewhere folders say less."""
    theirs = posixpath.dirname(path)
    return language != "go" or theirs == folder or posixpath.basename(theirs) in packages
