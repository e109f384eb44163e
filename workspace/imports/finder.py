"""Finds the import that a name needs, where the project leaves no doubt.

The most frequent way in which other files import the name counts, if no other meaning of it is
about as frequent. Where no file imports it, its one definition in the project counts, then the
standard library. Between two meanings nothing is guessed.

Names are followed through modules that pass them on, to the file that defines them. An import that
would close a circle, which Python and Go do not allow, is told too.
"""

import posixpath
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from intarsia.infill.imports.binding import (
    ImportBinding,
    ImportForm,
    NeededImport,
    UnboundName,
    is_plain,
)
from intarsia.infill.languages import ImportStyle, Language, language_for_path
from intarsia.workspace.imports.module_names import (
    MAX_DEFINITIONS,
    GoNames,
    JavaNames,
    ModuleNames,
    RustNames,
    Surroundings,
    Written,
    is_same,
)
from intarsia.workspace.imports.script_names import EcmascriptNames, PythonNames
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.index.reader import FoundImport
from intarsia.workspace.modules.files import files_of
from intarsia.workspace.symbols.extract import extract_symbols
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
"""How many files an import is followed through."""


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


MAX_IMPORTS = 600
"""Imports of one name that are looked at."""
DOMINANT = 4
"""How many times as frequent as any other meaning the proposed one must be."""

_NAMES: Mapping[ImportStyle, type[ModuleNames]] = {
    "from": PythonNames,
    "braces": EcmascriptNames,
    "quoted": GoNames,
    "dotted": JavaNames,
    "use": RustNames,
}


class ImportFinder:
    """Answers for the names of one file. Make a new one for each version of its text."""

    def __init__(self, index: ProjectIndex, path: str, text: str, language: Language) -> None:
        self._index, self._path, self._text, self._language = index, path, text, language
        self._symbols = extract_symbols(text, language)
        assert language.imports is not None, "no file of another language is asked about"
        self._around = Surroundings(
            path=path,
            language=language,
            rules=language.imports,
            imports=self._symbols.imports,
            files=files_of(index, path),
            index=index,
        )
        self._names = _NAMES[language.imports.style](self._around)

    def find(self, unbound: UnboundName) -> NeededImport:
        """Return the import that a name needs, or why none is proposed."""
        given = why_given(self._around, unbound)
        if given:
            return NeededImport(name=unbound.name, reason=given)
        candidates = self._candidates(unbound)
        if not candidates:
            return self._standard(unbound)
        chosen = self._chosen(candidates)
        if chosen is None:
            places = ", ".join(it.place.rpartition("/")[2] for it in candidates[:3])
            return _none(unbound, f"files import it from several places: {places}")
        if self._has_star(chosen) or self._names.may_inherit_from(chosen.place, self._text):
            return _none(unbound, "the file already has it")
        if imports_back(self._names, chosen.place):
            return _none(unbound, "the import would be circular")
        return self._bound(unbound, chosen)

    def _candidates(self, unbound: UnboundName) -> list[Candidate]:
        found = self._index.imports_of(unbound.name, path=self._path, limit=MAX_IMPORTS)
        others = [
            it
            for it in found
            if it.path != self._path and is_same(language_for_path(it.path), self._language)
        ]
        candidates = self._of_own_kind(candidates_of(others, unbound, self._names))
        return candidates or defined_candidates(self._names, unbound)

    def _of_own_kind(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Leave out what the file's kind, a module or CommonJS, does not write."""
        kinds = {it.kind for it in self._symbols.imports if it.names or it.local}
        if "require" in kinds and "plain" not in kinds:
            return [it for it in candidates if it.form == "require"]
        if "plain" in kinds or not self._around.rules.has_require:
            return [it for it in candidates if it.form != "require"]
        is_module = "\nexport " in self._text or self._text.startswith("export ")
        if is_module:
            return [it for it in candidates if it.form != "require"]
        forms = {it.form for it in candidates}
        return list(candidates) if len(forms) == 1 else []

    def _chosen(self, candidates: Sequence[Candidate]) -> Candidate | None:
        """Return the candidate that leaves no doubt, in the file's folder or in the project."""
        best, *others = candidates
        rivals = [it for it in others if not same_meaning(self._names, best, it)]
        if not rivals or (best.count and best.count >= DOMINANT * rivals[0].count):
            return best
        folder = posixpath.dirname(self._path)
        near = sorted(candidates, key=lambda it: -it.num_in(folder))
        if near[0].num_in(folder) > 1 and not near[1].num_in(folder):
            return near[0]
        return None

    def _has_star(self, chosen: Candidate) -> bool:
        """Whether the file imports all names of the place."""
        stars = (
            Written(path=self._path, module=imported.module)
            for imported in self._symbols.imports
            if any(it.name == "*" for it in imported.names)
        )
        return any(self._names.place_of(star, chosen.name) == chosen.place for star in stars)

    def _bound(self, unbound: UnboundName, chosen: Candidate) -> NeededImport:
        module = self._names.written_for(chosen.place, chosen.written, chosen.name)
        if module is None:
            return _none(unbound, "the file cannot import it from there")
        binding = ImportBinding(
            module=module, name=chosen.name, local=chosen.local, form=self._form(unbound, chosen)
        )
        if not is_plain(binding, self._language):
            return _none(unbound, "a file imports it by a text that is no module's name")
        return NeededImport(name=unbound.name, binding=binding)

    def _form(self, unbound: UnboundName, chosen: Candidate) -> ImportForm:
        is_type = unbound.is_type and 2 * chosen.num_types > chosen.count
        return "type" if is_type and chosen.form == "plain" else chosen.form

    def _standard(self, unbound: UnboundName) -> NeededImport:
        binding = self._names.standard(unbound)
        if binding is None:
            return _none(unbound, "the project does not say where it comes from")
        stars = (it for it in self._symbols.imports if any(n.name == "*" for n in it.names))
        if any(it.module == binding.module for it in stars):
            return _none(unbound, "the file already has it")
        return NeededImport(name=unbound.name, binding=binding)


def _none(unbound: UnboundName, reason: str) -> NeededImport:
    return NeededImport(name=unbound.name, reason=reason)
