"""How the project's other files import a name, put together by what they mean."""

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from intarsia.infill.imports.binding import ImportForm, UnboundName
from intarsia.workspace.imports.module_names import ModuleNames, Written
from intarsia.workspace.index.reader import FoundImport

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
