"""Where the project defines a name that no file imports yet."""

import posixpath
import re
from collections.abc import Iterator, Sequence

from intarsia.infill.imports.binding import DEFAULT, UnboundName
from intarsia.infill.languages import ECMASCRIPT_IDS, Language, language_for_path
from intarsia.workspace.imports.evidence import Candidate
from intarsia.workspace.imports.module_names import Surroundings
from intarsia.workspace.index.reader import FoundDefinition, IndexReader
from intarsia.workspace.modules.rust import module_of, source_folder

MAX_DEFINITIONS = 60

_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|testing|examples?|benches)/|[._]test\.|/test_|\.spec\."
)
_DECLARED = (
    r"(?:declare\s+|abstract\s+|async\s+)*"
    r"(?:function\*?|class|const|let|var|enum|type|interface)"
)
_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)


def defined_candidates(
    index: IndexReader, around: Surroundings, unbound: UnboundName
) -> list[Candidate]:
    """Return the public definitions of a name in other files, each as a candidate."""
    if around.language.id == "go":
        return list(_go_packages(index, around, unbound))
    found = [
        it
        for it in index.definitions_named(unbound.name, limit=MAX_DEFINITIONS)
        if _may_import(it, around)
    ]
    if len(found) == MAX_DEFINITIONS:
        return []
    places = {_place(it, index, around) for it in found}
    return [
        Candidate(place=place, name=name, local=unbound.name, form="plain")
        for place, name in sorted(it for it in places if it is not None)
    ]


def _may_import(found: FoundDefinition, around: Surroundings) -> bool:
    definition = found.definition
    own_test = _TEST.search(around.path) is not None
    return (
        not definition.container
        and found.path != around.path
        and _is_same(language_for_path(found.path), around.language)
        and (own_test or _TEST.search(found.path) is None)
        and definition.kind in ("class", "function", "constant", "type")
        and not definition.name.startswith("_")
    )


def _is_same(one: Language, other: Language) -> bool:
    return one.id == other.id or (one.id in ECMASCRIPT_IDS and other.id in ECMASCRIPT_IDS)


def _place(
    found: FoundDefinition, index: IndexReader, around: Surroundings
) -> tuple[str, str] | None:
    """Return the place and the name there, None where a definition is not public."""
    name, path, language = found.definition.name, found.path, around.language
    if language.id == "python":
        place = path.removesuffix(".pyi").removesuffix(".py").removesuffix("/__init__")
        return place, name
    if language.id in ECMASCRIPT_IDS:
        exported = _exported(index.read(path) or "", name)
        return None if exported is None else (path, exported)
    if language.id == "java":
        package = _PACKAGE.search(index.read(path) or "")
        is_public = found.definition.signature.startswith("public ")
        return (package[1], name) if package and is_public else None
    return _rust_place(found, around)


def _rust_place(found: FoundDefinition, around: Surroundings) -> tuple[str, str] | None:
    source = source_folder(found.path, around.files)
    if source != source_folder(around.path, around.files):
        return None
    is_public = re.match(r"(?:#\[.*\] )?pub\b(?!\((?:self|super))", found.definition.signature)
    if not is_public:
        return None
    place = "::".join(["crate", *module_of(found.path, source)])
    return place, found.definition.name


def _exported(text: str, name: str) -> str | None:
    """Return the name under which a module of JavaScript exports a definition, None if none."""
    word = re.escape(name)
    if re.search(rf"^export\s+{_DECLARED}\s+{word}\b", text, re.MULTILINE):
        return name
    if re.search(rf"^export\s*\{{[^}}]*\b{word}\s*[,}}]", text, re.MULTILINE):
        return name
    if re.search(rf"^export\s+default\s+(?:{_DECLARED}\s+)?{word}\b", text, re.MULTILINE):
        return DEFAULT
    return None


def _go_packages(
    index: IndexReader, around: Surroundings, unbound: UnboundName
) -> Iterator[Candidate]:
    """Yield the packages of this name that define the member that is used."""
    if len(unbound.path) < 2:
        return
    found: Sequence[FoundDefinition]
    found = index.definitions_named(unbound.path[1], limit=MAX_DEFINITIONS)
    folders = {posixpath.dirname(it.path) for it in found if it.path.endswith(".go")}
    for folder in sorted(it for it in folders if posixpath.basename(it) == unbound.name):
        for above, text in around.files.config_above(around.path, "go.mod"):
            module = _MODULE.search(text)
            if module and folder.startswith(above + "/"):
                place = f"{module[1]}/{folder.removeprefix(above + '/')}"
                yield Candidate(place=place, name="", local=unbound.name, form="plain")
                break
