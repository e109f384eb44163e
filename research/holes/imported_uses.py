"""Finds where a source file uses a name that another file of its package defines.

Python and TypeScript are known. A name that the file also defines itself is left out, and so is an
import that renames it: the file would then not need the other file's name.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import tree_sitter

from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.syntax.tree import Syntax, parse_afresh
from intarsia_research.holes import python_module, typescript_module
from intarsia_research.holes.cut_holes import offsets_of_bytes
from intarsia_research.holes.module import Module, NameFrom

_MAX_STEPS = 6
"""How many files may pass a name on before the one that defines it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedUse:
    """A use of ``name`` at an offset of the text; ``defined_in`` is the path of another file."""

    name: str
    start: int
    defined_in: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FileUses:
    """The uses in one file, in order, and where its imports are, as ranges of offsets."""

    uses: tuple[ImportedUse, ...] = ()
    imports: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reader:
    """How the files of one language are read."""

    read: Callable[[tree_sitter.Node], Module]
    find_file: Callable[[str, str, Collection[str]], str | None]
    is_use: Callable[[tree_sitter.Node], bool]
    is_binding: Callable[[tree_sitter.Node], bool]
    imports: frozenset[str]


_PYTHON = _Reader(
    read=python_module.read_python,
    find_file=python_module.python_file,
    is_use=python_module.is_python_use,
    is_binding=python_module.is_python_binding,
    imports=python_module.IMPORTS,
)
_TYPESCRIPT = _Reader(
    read=typescript_module.read_typescript,
    find_file=typescript_module.typescript_file,
    is_use=typescript_module.is_typescript_use,
    is_binding=typescript_module.is_typescript_binding,
    imports=typescript_module.IMPORTS,
)
_READERS = {"python": _PYTHON, "typescript": _TYPESCRIPT, "typescriptreact": _TYPESCRIPT}


class Package:
    """The texts of a package's source files, by path with slashes from the package's folder."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {
            path: text for path, text in texts.items() if language_for_path(path).id in _READERS
        }
        self._modules: dict[str, Module] = {}

    @property
    def paths(self) -> Collection[str]:
        """The paths of the files that can be read."""
        return self._texts.keys()

    def uses(self, path: str) -> FileUses:
        """Return the uses in one file; none if it cannot be parsed or has a syntax error."""
        language = language_for_path(path)
        reader = _READERS.get(language.id)
        syntax = self._parsed(path, language)
        if reader is None or syntax is None or syntax.tree.root_node.has_error:
            return FileUses()
        sources = {
            name.local: defined_in
            for name in reader.read(syntax.tree.root_node).imports
            if name.local == name.name and (defined_in := self._definer(path, name)) is not None
        }
        return _find_uses(syntax, reader, sources)

    def _definer(self, path: str, name: NameFrom) -> str | None:
        """Return the path of the other file that defines an imported name."""
        reader = _READERS[language_for_path(path).id]
        at, wanted, is_passed_on = path, name, False
        for _ in range(_MAX_STEPS):
            file = reader.find_file(at, wanted.module, self._texts)
            if file is None:
                return None
            module = self._module(file)
            if wanted.name in module.definitions:
                return None if file == path else file
            passed = next((one for one in module.exports if one.local == wanted.name), None)
            if passed is None:
                return None if is_passed_on else self._from_stars(path, file, wanted.name)
            at, wanted, is_passed_on = file, passed, True
        return None

    def _from_stars(self, path: str, file: str, name: str) -> str | None:
        """Return the file that defines a name among those that ``file`` passes on as a whole."""
        reader = _READERS[language_for_path(file).id]
        for star in self._module(file).stars:
            other = reader.find_file(file, star, self._texts)
            if other not in (None, path) and name in self._module(str(other)).definitions:
                return other
        return None

    def _module(self, path: str) -> Module:
        module = self._modules.get(path)
        if module is None:
            language = language_for_path(path)
            syntax = self._parsed(path, language)
            read = _READERS[language.id].read
            module = Module() if syntax is None else read(syntax.tree.root_node)
            self._modules[path] = module
        return module

    def _parsed(self, path: str, language: Language) -> Syntax | None:
        text = self._texts.get(path)
        return None if text is None else parse_afresh(text, language)


def _find_uses(syntax: Syntax, reader: _Reader, sources: Mapping[str, str]) -> FileUses:
    offsets = offsets_of_bytes(syntax.text)
    uses: list[ImportedUse] = []
    imports: list[tuple[int, int]] = []
    own: set[str] = set()
    for node in _nodes(syntax.tree.root_node, inside=lambda node: node.type not in reader.imports):
        start = offsets[node.start_byte]
        if node.type in reader.imports:
            imports.append((start, offsets[node.end_byte]))
            continue
        name = syntax.text[start : offsets[node.end_byte]] if node.child_count == 0 else ""
        if name not in sources:
            continue
        if reader.is_binding(node):
            own.add(name)
        elif reader.is_use(node):
            uses.append(ImportedUse(name=name, start=start, defined_in=sources[name]))
    return FileUses(uses=tuple(use for use in uses if use.name not in own), imports=tuple(imports))


def _nodes(
    node: tree_sitter.Node, *, inside: Callable[[tree_sitter.Node], bool]
) -> Iterator[tree_sitter.Node]:
    """Yield all nodes in the order of the text; those in a node only if ``inside`` says so."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        if inside(node):
            waiting += reversed(node.children)
