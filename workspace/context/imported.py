"""The definitions in other files that a file's imports give it: names, members, whole modules.

An import often names a file that only passes the name on (``__init__.py``, ``index.ts``); it is
followed a few steps to the file that defines the name.
"""

from collections.abc import Iterator, Sequence

from intarsia.workspace.context.candidate import Surroundings
from intarsia.workspace.context.ranked import Reached
from intarsia.workspace.symbols.symbols import Definition, FileSymbols, Import, ImportedName

MAX_STEPS = 4
"""How often a name is followed to the next file."""
MAX_MODULE_DEFINITIONS = 200
MAX_MEMBERS = 60

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
    around: Surroundings, path: str, name: str, num_steps: int = MAX_STEPS
) -> tuple[str, Definition] | None:
    """Return the definition of a name in a file, or in those that it imports the name from."""
    symbols = around.symbols_of(path)
    if symbols is None or num_steps == 0:
        return None
    for definition in symbols.definitions:
        if definition.name == name and not definition.container:
            return path, definition
    for one in symbols.imports:
        for passed in _passed_on(one, name):
            for module in around.module_files(path, one.module):
                found = find_name(around, module, passed, num_steps - 1)
                if found is not None:
                    return found
    return None


def members_of(symbols: FileSymbols, type_name: str) -> Sequence[Definition]:
    """Return the members of a type by its qualified name, in the order of the file."""
    members = (one for one in symbols.definitions if one.container == type_name)
    return [one for one, _ in zip(members, range(MAX_MEMBERS), strict=False)]


def _reached(around: Surroundings) -> Iterator[Reached]:
    """Yield imported names first, so that nothing hides their relation."""
    later: list[Iterator[Reached]] = []
    for one in around.symbols.imports:
        files = around.module_files(around.place.path, one.module)
        for imported in one.names:
            if imported.name == "*":
                later += [_module(around, file, "", is_unused=False) for file in files]
                continue
            found = _of_name(around, one, imported, files)
            if found is None:
                submodules = around.submodule_files(around.place.path, one.module, imported.name)
                unused = _is_unused(around, imported.local)
                later += [_module(around, f, imported.local, is_unused=unused) for f in submodules]
                continue
            yield found
            later.append(_with(around, found))
        if not one.names:
            local = one.local or one.module.replace("::", ".").replace("/", ".").split(".")[-1]
            unused = _is_unused(around, local)
            later += [_module(around, file, local, is_unused=unused) for file in files]
    for each in later:
        yield from each


def _of_name(
    around: Surroundings, one: Import, imported: ImportedName, files: Sequence[str]
) -> Reached | None:
    for file in files:
        found = find_name(around, file, imported.name)
        if found is not None and around.may_show(found[0]):
            return Reached(
                path=found[0],
                definition=found[1],
                relation="imported",
                local=imported.local,
                is_unused=_is_unused(around, imported.local),
            )
    return None


def _with(around: Surroundings, one: Reached) -> Iterator[Reached]:
    """Yield the members of an imported class, then what else its file defines."""
    symbols = around.symbols_of(one.path)
    if symbols is None:
        return
    if one.definition.kind in TYPES:
        for member in members_of(symbols, one.definition.name):
            yield Reached(
                path=one.path,
                definition=member,
                relation="member",
                local=member.name,
                owner=one.local,
            )
    for definition in symbols.definitions[:MAX_MODULE_DEFINITIONS]:
        if not definition.container:
            yield Reached(
                path=one.path, definition=definition, relation="neighbour", local=definition.name
            )


def _module(around: Surroundings, path: str, local: str, *, is_unused: bool) -> Iterator[Reached]:
    """Yield the definitions of an imported module."""
    symbols = around.symbols_of(path)
    for definition in symbols.definitions[:MAX_MODULE_DEFINITIONS] if symbols else ():
        if not definition.container:
            yield Reached(
                path=path,
                definition=definition,
                relation="module",
                local=definition.name,
                owner=local,
                is_unused=is_unused,
            )


def _passed_on(one: Import, name: str) -> Iterator[str]:
    for imported in one.names:
        if imported.local == name:
            yield imported.name
        elif imported.name == "*":
            yield name


def _is_unused(around: Surroundings, local: str) -> bool:
    return around.num_uses(local) <= 1  # the import itself
