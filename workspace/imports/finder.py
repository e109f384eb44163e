"""Tells the import that a name needs, where the project leaves no doubt.

The most frequent way in which other files import the name counts, if no other meaning of it is
about as frequent. Where no file imports it, its one definition in the project counts, then the
standard library. Between two meanings nothing is guessed.
"""

import posixpath
from collections.abc import Mapping, Sequence

from intarsia.infill.imports.binding import (
    ImportBinding,
    ImportForm,
    NeededImport,
    UnboundName,
    is_plain,
)
from intarsia.infill.languages import ImportStyle, Language, language_for_path
from intarsia.workspace.imports.evidence import (
    Candidate,
    candidates_of,
    defined_candidates,
    imports_back,
    same_meaning,
    why_given,
)
from intarsia.workspace.imports.module_names import (
    GoNames,
    JavaNames,
    ModuleNames,
    RustNames,
    Surroundings,
    Written,
    is_same,
)
from intarsia.workspace.imports.script_names import EcmascriptNames, PythonNames
from intarsia.workspace.index.reader import IndexReader
from intarsia.workspace.modules.files import files_of
from intarsia.workspace.symbols.extract import extract_symbols

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

    def __init__(self, index: IndexReader, path: str, text: str, language: Language) -> None:
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
