"""The definitions in other files that a file can name: by its imports, or as a part of its package.

An import often names a file that only passes the name on (``__init__.py``, ``index.ts``); it is
followed a few steps to the file that defines the name. Go, Java, C# and others also see the files
of their own folder or namespace: a name that the code near the hole mentions is looked up in the
index, and the nearest file is taken.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from intarsia.workspace.context.candidate import Surroundings
from intarsia.workspace.context.chunk import extensions_of
from intarsia.workspace.context.ranked import Reached, Relation
from intarsia.workspace.modules.files import is_module_named
from intarsia.workspace.symbols.symbols import Definition, FileSymbols, Import, ImportedName

MAX_STEPS = 4
"""How often a name is followed to the next file."""
MAX_WAYS = 8
"""Imports of one file that may bring a name: ``from x import *`` in a row."""
MAX_IMPORTS = 200
MAX_MODULE_DEFINITIONS = 200
MAX_MEMBERS = 60

_OVERLOAD = re.compile(r"@(?:\w+\.)?overload\b")

TYPES = ("class", "type", "module")


def imported_definitions(around: Surroundings) -> Iterator[Reached]:
    """Yield what the imports of the file reach, each definition once."""
    seen: set[tuple[str, int, str]] = set()
    for one in _reached(around):
        key = (one.path, one.definition.start_line, one.definition.name)
        if key not in seen:
            seen.add(key)
            yield one


def find_name(
    around: Surroundings, path: str, name: str, seen: frozenset[str] = frozenset()
) -> tuple[str, Definition] | None:
    """Return the definition of a name in a file, or in those that it imports the name from.

    ``seen``: the files that pass the name on to this one.
    """
    symbols = around.symbols_of(path)
    if symbols is None or path in seen or len(seen) == MAX_STEPS:
        return None
    own = [one for one in symbols.definitions if one.name == name and not one.container]
    if own:
        return path, next((one for one in own if not _OVERLOAD.match(one.signature)), own[0])
    passed = [(one, its) for one in symbols.imports for its in _passed_on(one, name)]
    for one, its in passed[:MAX_WAYS]:
        found = find_imported(around, path, one, its, seen | {path})
        if found is not None:
            return found
    return None


def find_imported(
    around: Surroundings, path: str, one: Import, name: str, seen: frozenset[str] = frozenset()
) -> tuple[str, Definition] | None:
    """Return the definition of a name that an import in ``path`` brings."""
    for file in around.imported_files.of(path, one):
        if not is_module_named(file, name) or not one.names:
            found = find_name(around, file, name, seen)
            if found is not None:
                return found
    return None


def modules_named(around: Surroundings, path: str, one: Import, name: str) -> Sequence[str]:
    """Return the files of a module that an import brings as a name of its package."""
    return [file for file in around.imported_files.of(path, one) if is_module_named(file, name)]


def members_of(symbols: FileSymbols, type_name: str) -> Sequence[Definition]:
    """Return the members of a type by its qualified name, in the order of the file."""
    members = (one for one in symbols.definitions if one.container == type_name)
    return [one for one, _ in zip(members, range(MAX_MEMBERS), strict=False)]


def reached_members(
    around: Surroundings, path: str, type_name: str, relation: Relation, owner: str
) -> Iterator[Reached]:
    """Yield the members of a type that is defined in a file."""
    symbols = around.symbols_of(path)
    for one in members_of(symbols, type_name) if symbols else ():
        yield Reached(path=path, definition=one, relation=relation, local=one.name, owner=owner)


def reached_in_module(
    around: Surroundings,
    path: str,
    relation: Relation,
    owner: str = "",
    *,
    is_unused: bool = False,
    limit: int | None = MAX_MODULE_DEFINITIONS,
) -> Iterator[Reached]:
    """Yield what a module defines at its top level; ``owner`` is its name at the hole."""
    symbols = around.symbols_of(path)
    for one in symbols.definitions[:limit] if symbols else ():
        if not one.container:
            yield Reached(
                path=path,
                definition=one,
                relation=relation,
                local=one.name,
                owner=owner,
                is_unused=is_unused,
            )


def last_part(module: str) -> str:
    """Return the name by which a module is known without another: ``b`` of ``a.b`` or ``a/b``."""
    return re.split(r"::|[./\\]", module)[-1]


def _reached(around: Surroundings) -> Iterator[Reached]:
    """Yield imported names first, so that nothing hides their relation."""
    later: list[Iterator[Reached]] = []
    for one in around.symbols.imports[:MAX_IMPORTS]:
        files = around.imported_files.of(around.place.path, one)
        for imported in one.names[:MAX_IMPORTS]:
            if imported.name == "*":
                later += [reached_in_module(around, file, "module") for file in files]
                continue
            found = _of_name(around, one, imported)
            if found is None:
                submodules = modules_named(around, around.place.path, one, imported.name)
                later += _modules(around, submodules, imported.local)
                continue
            yield found
            later.append(_with(around, found))
        if not one.names:
            local = one.local or last_part(one.module)
            later += _modules(around, files, local)
    for each in later:
        yield from each


def _of_name(around: Surroundings, one: Import, imported: ImportedName) -> Reached | None:
    found = find_imported(around, around.place.path, one, imported.name)
    if found is None or not around.may_show(found[0]):
        return None
    return Reached(
        path=found[0],
        definition=_as_known_here(found[1], imported.local),
        relation="imported",
        local=imported.local,
        is_unused=_is_unused(around, imported.local),
    )


def _as_known_here(definition: Definition, local: str) -> Definition:
    """Return a definition under the name that the file uses: it cannot call it by another."""
    if definition.name == local or definition.kind in TYPES:
        return definition
    name = rf"(?<!\w){re.escape(definition.name)}(?!\w)"
    signature = re.sub(name, lambda _: local, definition.signature, count=1)
    return replace(definition, name=local, signature=signature)


def _with(around: Surroundings, one: Reached) -> Iterator[Reached]:
    """Yield the members of an imported class, then what else its file defines."""
    if one.definition.kind in TYPES:
        yield from reached_members(around, one.path, one.definition.name, "member", one.local)
    yield from reached_in_module(around, one.path, "neighbour")


def _modules(around: Surroundings, files: Sequence[str], local: str) -> Sequence[Iterator[Reached]]:
    """Return what each file of an imported module defines."""
    unused = _is_unused(around, local)
    return [reached_in_module(around, it, "module", local, is_unused=unused) for it in files]


def _passed_on(one: Import, name: str) -> Iterator[str]:
    for imported in one.names:
        if imported.local == name:
            yield imported.name
        elif imported.name == "*":
            yield name


def _is_unused(around: Surroundings, local: str) -> bool:
    return around.names[local] <= 1  # the import itself


MAX_NAMES = 16
MAX_FOUND = 24


def named_definitions(around: Surroundings) -> Iterator[Reached]:
    """Yield what the names near the hole mean in other files of the package, with members."""
    if around.place.language.reach == "imports":
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
        if definition.kind in TYPES:
            yield from reached_members(around, path, name, "member", name)


def named_definition(around: Surroundings, name: str) -> tuple[str, Definition] | None:
    """Return the nearest definition of a name that the file can mean, None if there is none."""
    place = around.place
    if place.language.reach == "imports":
        return None
    packages = {last_part(one.module) for one in around.symbols.imports}
    folder, endings = posixpath.dirname(place.path), extensions_of(place.path, place.language)
    found = [
        one
        for one in around.index.definitions_named(name, limit=MAX_FOUND)
        if not one.definition.container
        and posixpath.splitext(one.path)[1] in endings
        and around.may_show(one.path)
        and (place.language.reach != "folder" or _is_in_reach(one.path, folder, packages))
    ]
    nearest = min(
        found,
        key=lambda one: (-len(posixpath.commonpath([one.path, place.path])), one.path),
        default=None,
    )
    return (nearest.path, nearest.definition) if nearest else None


def _is_in_reach(path: str, folder: str, packages: set[str]) -> bool:
    """Whether a file is in the same folder, or in one that is imported."""
    theirs = posixpath.dirname(path)
    return theirs == folder or posixpath.basename(theirs) in packages
