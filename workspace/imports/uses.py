"""Finds the uses of a renamed declaration in the other files of its opened folder.

A file counts if its imports lead to the declaration by the rules of its language, through files
that pass the name on, or if it is of the same package. A module that is found by the end of its
path alone, or in the place of one of the standard library, does not count.
"""

import posixpath
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import NamedTuple

from intarsia.infill.imports.binding import DEFAULT
from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.next_edit.uses import (
    TOLD,
    Declaration,
    Reach,
    declaration_at,
    keeps_name,
    uses_elsewhere,
)
from intarsia.infill.replacement import ChangedFile
from intarsia.infill.syntax.tree import parse_afresh
from intarsia.workspace.imports.module_names import is_same
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.modules.files import files_of, is_module_named
from intarsia.workspace.modules.resolve import is_meant, resolve_import
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols, Import, ImportedName

MAX_FILES = 2_000
"""The most files with the words of the name. If more have them, no use is reported."""
MAX_CHARS = 4_000_000
"""The most characters of the files with uses, together. If there are more, no use is reported."""
MAX_CPU_S = 6.0
"""A search that takes longer is given up: the index has other questions to answer."""
MAX_STEPS = 4
_PACKAGES = re.compile(r"^\s*package\s+([\w.]+)", re.MULTILINE)
_DEFAULT = re.compile(r"^export\s+default\s+(?:abstract\s+)?(?:class\s+)?(\w+)", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")


class _Home(NamedTuple):
    """Where the declaration is, and what is renamed there."""

    path: str
    language: Language
    declared: Declaration
    new: str
    package: str  # of the file, where its language has such


def uses_in_files(
    index: ProjectIndex, path: str, before: str, at: int, new: str
) -> tuple[ChangedFile, ...]:
    """Return the uses in other files of what is declared at ``at`` of the text before."""
    language = language_for_path(path)
    syntax = parse_afresh(before, language)
    declared = None if syntax is None else declaration_at(syntax, at, new)
    root = index.root_of(path)
    if declared is None or root is None:
        return ()
    candidates = index.files_with(declared.name, path=path, limit=MAX_FILES + 1)
    if len(candidates) > MAX_FILES:
        return ()
    home = _Home(path, language, declared, new, _package(before, language))
    ways = _Ways(index, home, before)
    found, ends_at = list[ChangedFile](), time.process_time() + MAX_CPU_S
    for candidate in candidates:
        if candidate != path and index.root_of(candidate) == root:
            found += filter(None, [ways.uses_in(candidate)])
        if time.process_time() > ends_at or sum(len(it.text) for it in found) > MAX_CHARS:
            return ()
    return tuple(found)


def _package(text: str, language: Language) -> str:
    if language.reach not in ("folder", "package"):
        return ""
    found = _PACKAGES.search(text)
    return found[1] if found else ""


class _Ways:
    """How other files come to know one declaration."""

    def __init__(self, index: ProjectIndex, home: _Home, before: str) -> None:
        self._index, self._home = index, home
        self._files = files_of(index, home.path)
        self._word = re.compile(rf"(?<![\w$]){re.escape(home.declared.name)}(?![\w$])")
        self._leads = cache(self._find_lead)
        holders = home.declared.holders
        default = _DEFAULT.search(before)  # what a module of JavaScript exports as its main class
        is_member = home.declared.kind == "member"
        is_default = is_member and default is not None and default[1] in holders
        self._exported = holders | ({DEFAULT} if is_default else set())

    def uses_in(self, path: str) -> ChangedFile | None:
        """Return the uses in one file, None where it has none."""
        language, text = language_for_path(path), self._index.read(path)
        if text is None or not self._word.search(text):
            return None
        if not is_same(language, self._home.language):
            return None
        known = self._index.symbols_of(path)  # of a text that may be older
        if known is not None and not self._reach(path, text, known, language).is_any:
            return None
        reach = self._reach(path, text, extract_symbols(text, language), language)
        syntax = parse_afresh(text, language)
        if syntax is None or not reach.is_any:
            return None
        changes = uses_elsewhere(syntax, self._home.declared, reach, self._home.new)
        return ChangedFile(path=path, text=text, replacements=changes) if changes else None

    def _reach(self, path: str, text: str, symbols: FileSymbols, language: Language) -> Reach:
        names, modules = set[str](), set[str]()
        rows, module_rows, contested = set[int](), set[int](), set[int]()
        told: dict[str, set[str]] = {}
        is_open = self._is_same_package(path, text, language)
        holders = self._home.declared.holders
        # Elsewhere ``Names`` knows no scope of an import, so the whole file has its name.
        is_bound = language.imports is not None and language.imports.are_scoped
        num_with = Counter(it.local for one in symbols.imports for it in one.names)
        for one in (*symbols.imports, *_written_paths(text, holders, language)):
            for it in one.names:
                if it.name == "*":
                    is_open |= any(self._brings(one, path, name) for name in holders)
                elif it.name == "self":  # of Rust: the module itself
                    if any(self._brings(one, path, name) for name in holders):
                        modules.add(
                            one.module.rpartition("::")[2] if it.local == "self" else it.local
                        )
                        module_rows.add(one.line)
                elif it.name in self._exported and self._brings(one, path, it.name):
                    if is_bound or num_with[it.local] == 1:
                        names.add(it.local)
                        rows.add(one.line)
                        is_open |= not is_bound
                elif any(self._has_all(file) for file in self._modules(one, path, it.name)):
                    modules.add(it.local)
                    module_rows.add(one.line)
                elif it.name in holders:
                    contested.add(one.line)
                told.update(self._told(one, path, it))
            if not one.names and any(self._brings(one, path, it) for it in holders):
                modules |= {one.local, self._home.package or one.local}
                module_rows.add(one.line)
            if not one.names and one.local:
                told.update(self._told(one, path, ImportedName(name="", local=one.local)))
        return Reach(
            names=frozenset(names | (holders if is_open else set())),
            modules=frozenset(modules - {""}),
            rows=frozenset(rows - contested),
            module_rows=frozenset(module_rows),
            is_open=is_open,
            told=told,
        )

    def _is_same_package(self, path: str, text: str, language: Language) -> bool:
        package, own = self._home.package, self._home.path
        if not package or _package(text, language) != package:
            return False
        folder, name = posixpath.split(own)
        tail = (
            f"/{package.replace('.', '/')}/{name}"  # of Java, where tests have a root of their own
        )
        named = self._index.files_named(posixpath.splitext(name)[0])
        is_only = language.reach == "package" and [it for it in named if it.endswith(tail)] == [own]
        return is_only or posixpath.dirname(path) == folder

    def _brings(self, one: Import, path: str, name: str) -> bool:
        """Whether an import in a file brings what is declared."""
        if one.kind == "require" and one.names:
            return False
        rules = self._home.language.imports
        if rules is not None and rules.may_name_modules:  # but modules have no such name
            one = replace(one, names=())
        return any(self._leads(file, name) for file in self._resolved(one, path))

    def _modules(self, one: Import, path: str, name: str) -> Iterator[str]:
        """Yield the files of a module that an import brings as a name of its package."""
        if name != "*":
            yield from (it for it in self._resolved(one, path) if is_module_named(it, name))

    def _has_all(self, file: str) -> bool:
        return any(self._leads(file, it) for it in self._home.declared.holders)

    def _told(self, one: Import, path: str, it: ImportedName) -> Iterator[tuple[str, set[str]]]:
        """Yield what an import brings whose type is the class with the renamed member."""
        is_member = self._home.declared.kind == "member"
        for file in self._resolved(one, path) if is_member else ():
            symbols = self._index.symbols_of(file)
            for known in symbols.definitions if symbols else ():
                is_it = known.name == it.name and not known.container
                is_part = known.container == it.name
                if (is_it or is_part) and self._is_of_class(file, known.type_name):
                    yield it.local if is_it else f"{it.local}.{known.name}", {TOLD}

    def _is_of_class(self, file: str, type_name: str) -> bool:
        words, holders = _WORD.findall(type_name), self._home.declared.holders
        symbols = self._index.symbols_of(file)
        if file == self._home.path:
            return not holders.isdisjoint(words)
        return symbols is not None and any(
            it.local in words and it.name in holders and self._brings(one, file, it.name)
            for one in symbols.imports
            for it in one.names
        )

    def _find_lead(self, file: str, name: str, steps: int = MAX_STEPS) -> bool:
        """Whether a name in a file is what is declared, there or in a file that it comes from."""
        home = self._home
        if file == home.path:
            return name in self._exported
        symbols = self._index.symbols_of(file)
        if symbols is None or not steps:
            return False
        if home.package and language_for_path(file).reach == "folder":
            return posixpath.dirname(file) == posixpath.dirname(home.path)
        if any(it.name == name and not it.container for it in symbols.definitions):
            return False
        names = language_for_path(file).names
        is_marked = names is not None and names.are_exports_marked
        is_led = any(
            self._find_lead(other, name if it.name == "*" else it.name, steps - 1)
            for one in symbols.imports
            if one.kind == "export" or not is_marked
            for it in one.names
            if it.name == "*" or it.local == name
            for other in self._resolved(one, file)
        )
        return is_led and not (home.declared.kind == "thing" and self._keeps(file))

    def _keeps(self, file: str) -> bool:
        syntax = parse_afresh(self._index.read(file) or "", language_for_path(file))
        declared = self._home.declared
        return syntax is None or keeps_name(syntax, declared.name, self._home.new)

    def _resolved(self, one: Import, path: str) -> Sequence[str]:
        language = language_for_path(path)
        found = resolve_import(one, path=path, language=language, files=self._files)
        return [it for it in found if is_meant(one, it, language, self._files)]


def _written_paths(text: str, holders: frozenset[str], language: Language) -> Iterator[Import]:
    """Yield the modules of Rust's whole paths, such as ``crate::shop::Order``, as imports."""
    if language.modules == "crates":
        names = "|".join(map(re.escape, sorted(holders)))
        heads = re.findall(rf"((?:\w+::)*\w+)::(?:{names})\b", text)
        for head in islice(dict.fromkeys(heads), 50):
            yield Import(module=head, local=head, line=-1)
