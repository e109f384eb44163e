"""How the project's other files import a name, and whether a file may have it without an import.

Names are followed through modules that pass them on, to the file that defines them. An import that
would close a circle, which Python and Go do not allow, is told too.
"""

import posixpath
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from intarsia.infill.imports.binding import ImportForm, UnboundName
from intarsia.infill.languages import language_for_path
from intarsia.workspace.imports.module_names import (
    MAX_DEFINITIONS,
    ModuleNames,
    Surroundings,
    Written,
)
from intarsia.workspace.index.reader import FoundImport
from intarsia.workspace.symbols.symbols import Import

_LEFT_OUT = ("export", "submodule")


@dataclass(kw_only=True, slots=True, eq=False)
class Candidate:
    """One thing that a name may mean: a name in a place (see ``module_names``)."""

    place: str
    name: str
    local: str
    form: ImportForm
    paths: set[str] = field(default_factory=set)  # of the files that import it
    num_types: int = 0  # of those imports that are of a type only
    ways: Counter[str] = field(default_factory=Counter)  # modules as they are written
    first: dict[str, Written] = field(default_factory=dict)  # by the module as it is written

    @property
    def count(self) -> int:
        return len(self.paths)

    @property
    def written(self) -> Sequence[Written]:
        """How files write the module, the most frequent way first."""
        return [self.first[module] for module, _ in self.ways.most_common()]

    def num_in(self, folder: str) -> int:
        """Return how many files of a folder, without its subfolders, import it."""
        return sum(posixpath.dirname(path) == folder for path in self.paths)


def candidates_of(
    found: Iterable[FoundImport], unbound: UnboundName, names: ModuleNames
) -> list[Candidate]:
    """Return what files import by a name, most frequent first."""
    by_meaning: dict[tuple[str, str, str, bool], Candidate] = {}
    for one in _fitting(found, unbound):
        written = Written(path=one.path, module=one.module)
        name, module = one.name, one.module
        if name == "self":  # of Rust
            module, _, name = module.rpartition("::")
            written = Written(path=one.path, module=module)
        place = names.place_of(written, name)
        if place is None:
            continue
        form = _form(one)
        key = (place, name, one.local, form == "require")
        known = by_meaning.setdefault(
            key, Candidate(place=place, name=name, local=one.local, form=form)
        )
        known.paths.add(one.path)
        known.num_types += one.is_type
        known.ways[module] += 1
        known.first.setdefault(module, written)
    return sorted(by_meaning.values(), key=lambda it: (-it.count, it.place, it.name))


def _fitting(found: Iterable[FoundImport], unbound: UnboundName) -> Iterator[FoundImport]:
    """Yield the imports that give what is used: of ``a.b.c``, those of ``a.b`` before ``a``."""
    usable = [one for one in found if one.kind not in _LEFT_OUT]
    dotted = [(one, one.local.split(".")) for one in usable]
    fits = [
        (one, len(parts)) for one, parts in dotted if tuple(parts) == unbound.path[: len(parts)]
    ]
    longest = max((num for _, num in fits), default=0)
    return (one for one, num in fits if num == longest)


def _form(one: FoundImport) -> ImportForm:
    if one.kind in ("require", "static"):
        return "require" if one.kind == "require" else "static"
    return "plain"


def defined_candidates(names: ModuleNames, unbound: UnboundName) -> list[Candidate]:
    """Return the public definitions of a name in other files, each as a candidate."""
    return [
        Candidate(place=place, name=name, local=unbound.name, form="plain")
        for place, name in sorted(names.places_with(unbound))
    ]


def same_meaning(names: ModuleNames, one: Candidate, other: Candidate) -> bool:
    """Whether one of two places only passes on what the other one has."""
    if (one.name, one.form) != (other.name, other.form) or not one.name:
        return False
    return _passes_on(names, one, other) or _passes_on(names, other, one)


def _passes_on(names: ModuleNames, one: Candidate, other: Candidate) -> bool:
    """Whether the file of a place imports the name, and does not define it."""
    files = names.files_of(one.place)
    symbols = names.around.index.symbols_of(files[0]) if files else None
    if symbols is None or any(
        it.name == one.name and not it.container for it in symbols.definitions
    ):
        return False
    end = _last_name(other.place)
    return any(
        given.local == one.name or given.name == "*"
        for imported in symbols.imports
        for given in imported.names
        if end in imported.module or not imported.module.strip(".")
    )


def _last_name(place: str) -> str:
    """Return the last part of a place that tells it from others: of a folder's file, the folder."""
    if "/" not in place:
        return place.rpartition("::")[2].rpartition(".")[2]
    folder, _, file = place.rpartition("/")
    stem = file.partition(".")[0]
    return folder.rpartition("/")[2] if stem == "index" else stem


def why_given(around: Surroundings, unbound: UnboundName) -> str:
    """Return why a name needs no import, "" where it needs one."""
    if _is_in_package(around, unbound.name):
        return "its own package defines it"
    for imported in around.imports:
        is_star = any(it.name == "*" for it in imported.names) and imported.kind != "export"
        if is_star and _may_give(around, imported, unbound.name):
            return f"all names of {imported.module} are imported, perhaps this one"
    return ""


def _is_in_package(around: Surroundings, name: str) -> bool:
    """Whether a file of the same package defines a name, where packages are folders."""
    folder, language = posixpath.dirname(around.path), around.language
    if language.reach not in ("folder", "package"):
        return False
    found = around.index.definitions_named(name, limit=MAX_DEFINITIONS)
    here = [
        it
        for it in found
        if not it.definition.container and language_for_path(it.path).id == language.id
    ]
    if language.reach == "folder":
        return any(posixpath.dirname(it.path) == folder for it in here)
    package = package_folder(folder)
    return any(package_folder(posixpath.dirname(it.path)) == package for it in here)


def package_folder(folder: str) -> str:
    """Return the part of a folder that names its Java package: the same for code and tests."""
    for mark in ("/src/main/java/", "/src/test/java/"):
        before, found, inside = folder.rpartition(mark)
        if found:
            return f"{before}//{inside}"
    return folder


def _may_give(around: Surroundings, imported: Import, name: str) -> bool:
    """Whether an import of all names may include this one."""
    files = around.resolve(imported)
    if not files:
        return around.rules.may_bring_any
    for path in files:
        symbols = around.index.symbols_of(path)
        if symbols is None:
            continue
        if any(it.name == name and not it.container for it in symbols.definitions):
            return True
        if any(given.local == name for it in symbols.imports for given in it.names):
            return True
    return False


MAX_FILES = 40
"""Files that are followed: a longer way round is not seen."""


def imports_back(names: ModuleNames, place: str) -> bool:
    """Whether the files of a place import the file itself, directly or by others, and must not."""
    around = names.around
    if around.rules.may_be_circular:
        return False
    not_run = around.language.declaration_files
    waiting = deque(it for it in names.files_of(place) if not it.endswith(not_run))
    seen = set(waiting)
    while waiting and len(seen) <= MAX_FILES:
        path = waiting.popleft()
        if path == around.path:
            return True
        symbols = around.index.symbols_of(path)
        for imported in symbols.imports if symbols is not None else ():
            if imported.is_nested and around.rules.may_be_nested:
                continue
            found = around.resolve(imported, path)
            waiting.extend(it for it in found if it not in seen)
            seen.update(found)
    return around.path in seen
