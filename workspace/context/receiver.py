"""Members of the type of ``user`` where ``user.`` is written at the hole, its bases included."""

import re
from collections.abc import Iterator, Mapping, Sequence

from intarsia.infill.languages import Language, TypePlace
from intarsia.workspace.context.candidate import Surroundings
from intarsia.workspace.context.imported import (
    find_imported,
    find_name,
    last_part,
    members_of,
    modules_named,
    named_definition,
    reached_in_module,
    reached_members,
)
from intarsia.workspace.context.ranked import Reached
from intarsia.workspace.symbols.symbols import Definition, FileSymbols, Import

MAX_CHARS_ABOVE = 20_000
MAX_TYPE_CHARS = 200
MAX_WRAPPERS = 4

OWN_NAMES = frozenset({"self", "this", "cls", "Self", "super", "super()", "base"})
_WRAPPERS = re.compile(
    r"(?:Optional|Option|Box|Rc|Arc|Ref|RefMut|Final|Annotated|ClassVar|Readonly|Partial|Type|type"
    r"|Required|NonNullable|Maybe|unique_ptr|shared_ptr|std::unique_ptr|std::shared_ptr)"
    r"\s*[\[<]\s*(.+)\s*[\]>]"
)
_NOTHING = frozenset({"None", "null", "undefined", "nil", "void"})
_NAME = re.compile(r"[^\W\d][\w.:]*")
_TYPE = (
    r"(?P<type>[&*]*(?:mut\s+|const\s+)?[^\W\d][\w.:]*(?:\s*[\[<][^=;(){}\n]*[\]>])?"
    r"(?:\s*\|\s*[\w.]+)*)"
)
_CALLED = r"(?:await\s+|new\s+|&)?(?P<call>[^\W\d][\w.:]*)\s*[({]"
_ASSIGNED = rf"(?<![\w.])NAME\s*=\s*{_CALLED}"
_PATTERNS: Mapping[TypePlace, Sequence[str]] = {
    "colon": (
        _ASSIGNED,
        rf"(?<![\w.])NAME\s*\??\s*:\s*{_TYPE}",
        rf"\bwith\s+{_CALLED}[^\n]*\bas\s+NAME\b",
    ),
    "blank": (
        rf"(?<![\w.])NAME\s*:=\s*{_CALLED}",
        r"(?<![\w.])NAME\s+(?P<type>[&*]*[^\W\d][\w.]*)\s*[,)=\n]",
    ),
    "before": (_ASSIGNED, r"\b(?P<type>[A-Z]\w*(?:<[^<>\n]*>)?[&*?]*)\s+[&*$]*NAME\s*[=;,)]"),
}


def bare_type(written: str) -> str:
    """Return the name of a written type, "" if it is not one plain name.

    ``Optional[User]``, ``User | None`` and ``&mut User`` are ``User``; ``list[User]`` is none.
    """
    name = written[:MAX_TYPE_CHARS]
    for _ in range(MAX_WRAPPERS):
        name = name.strip().strip("\"'").lstrip("&*: ")
        name = name.removeprefix("mut ").removeprefix("const ").rstrip("?!*& ")
        parts = [part for part in map(str.strip, name.split("|")) if part not in _NOTHING]
        wrapped = _WRAPPERS.fullmatch(parts[0]) if len(parts) == 1 else None
        if wrapped is None:
            return parts[0] if len(parts) == 1 and _NAME.fullmatch(parts[0]) else ""
        name = wrapped[1].split(",")[0]
    return ""


def enclosing_class(symbols: FileSymbols, line: int) -> Definition | None:
    around = (
        one
        for one in symbols.definitions
        if one.kind in ("class", "type") and one.start_line <= line < one.end_line
    )
    return max(around, key=lambda one: one.start_line, default=None)


def declared_type(name: str, before: str, language: Language) -> str:
    """Return the type that the nearest line above declares for a name, "" if none tells.

    A call ``name = make(...)`` gives ``make()``: a class, or a function that returns one.
    """
    return declaration_of(name, before, language)[0]


def declaration_of(name: str, before: str, language: Language) -> tuple[str, int, int]:
    """Return a declared type, and where the text that declares it begins and ends."""
    skipped = max(0, len(before) - MAX_CHARS_ABOVE)
    text = before[skipped:]
    best = ("", 0, 0)
    for pattern in _PATTERNS[language.type_place]:
        for match in re.finditer(pattern.replace("NAME", re.escape(name)), text):
            groups = match.groupdict()
            called = groups.get("call")
            found = bare_type(groups.get("type") or "")
            if called:
                is_new = called.endswith("::new")
                found = called.removesuffix("::new") if is_new else f"{called}()"
            if found and (not best[0] or skipped + match.start() > best[1]):
                best = found, skipped + match.start(), skipped + match.end()
    return best


MAX_BASES = 4

_Found = tuple[str, Definition]
"""The path of a file, and a definition in it."""


def receiver_members(around: Surroundings) -> Iterator[Reached]:
    """Yield the members of the receiver's type that are in other files."""
    receiver = around.neighbourhood.receiver
    found = type_of(around, receiver) if receiver else None
    if found is None:
        yield from _of_module(around, receiver)
        return
    for path, base in with_bases(around, found):
        if path == around.place.path:
            continue
        for member in reached_members(around, path, base.name, "receiver", found[1].name):
            # the language itself calls the others, nobody by their names
            if not member.local.startswith("__") or receiver.startswith("super"):
                yield member


def _of_module(around: Surroundings, receiver: str) -> Iterator[Reached]:
    """Yield what an imported module defines, where the receiver is its name."""
    for one in around.symbols.imports:
        path = around.place.path
        names = [it.name for it in one.names if it.local == receiver]
        files = [file for name in names for file in modules_named(around, path, one, name)]
        if not one.names and receiver in (one.local or one.module, last_part(one.module)):
            files = list(around.imported_files.of(path, one))
        for file in files:
            yield from reached_in_module(around, file, "receiver", receiver, limit=None)


def type_of(around: Surroundings, expression: str) -> _Found | None:
    """Return the class of an expression such as ``self.client.user``, None if nothing tells."""
    first, *rest = expression.split(".")
    found = _type_of_name(around, first)
    for name in rest:
        if found is None:
            return None
        found = _type_of_member(around, found, name)
    return found


def _type_of_name(around: Surroundings, name: str) -> _Found | None:
    if name in OWN_NAMES:
        own = enclosing_class(around.symbols, around.neighbourhood.line)
        return (around.place.path, own) if own else None
    before = around.place.text[: around.place.offset]
    written = declared_type(name, before, around.place.language)
    return class_named(around, around.place.path, written or name)


def _type_of_member(around: Surroundings, found: _Found, name: str) -> _Found | None:
    for path, owner in with_bases(around, found):
        for member in members_of(symbols_of(around, path), owner.name):
            if member.name == name and member.type_name:
                return class_named(around, path, bare_type(member.type_name))
    return None


def class_named(around: Surroundings, path: str, written: str) -> _Found | None:
    """Return the class that a name means in a file; of ``make()``, the class that it returns."""
    name = written.removesuffix("()").replace("::", ".")
    if not name:
        return None
    found = _definition(around, path, name)
    if found is None or found[1].kind in ("class", "type"):
        return found
    returned = bare_type(found[1].type_name) if written.endswith("()") else ""
    return class_named(around, found[0], returned) if returned else None


def _definition(around: Surroundings, path: str, name: str) -> _Found | None:
    """Return the definition of ``name`` or ``module.name`` as a file knows it."""
    module, _, last = name.rpartition(".")
    symbols = symbols_of(around, path)
    for one in symbols.definitions if not module else ():
        if one.name == last and not one.container:
            return path, one
    for imported in symbols.imports:
        found = _imported(around, path, imported, module, last)
        if found is not None:
            return found
    return named_definition(around, last)


def _imported(
    around: Surroundings, path: str, imported: Import, module: str, name: str
) -> _Found | None:
    for it in imported.names:
        if not module and it.local == name:
            return find_imported(around, path, imported, it.name)
        if module and it.local == module:
            return _in_files(around, modules_named(around, path, imported, it.name), name)
    if module and module in (imported.local, imported.module, last_part(imported.module)):
        return _in_files(around, around.imported_files.of(path, imported), name)
    return None


def _in_files(around: Surroundings, files: Sequence[str], name: str) -> _Found | None:
    found = (find_name(around, file, name) for file in files)
    return next((one for one in found if one is not None), None)


def with_bases(around: Surroundings, found: _Found) -> Iterator[_Found]:
    """Yield a class and its bases, the nearest first; never one twice."""
    waiting: list[_Found] = [found]
    seen: set[tuple[str, str]] = set()
    while waiting and len(seen) <= MAX_BASES:
        path, one = waiting.pop(0)
        if (path, one.name) in seen:
            continue
        seen.add((path, one.name))
        yield path, one
        bases = (
            class_named(around, path, bare_type(base.split("<")[0]))
            for base in one.bases[:MAX_BASES]
        )
        waiting += [base for base in bases if base is not None]


def symbols_of(around: Surroundings, path: str) -> FileSymbols:
    """Return what a file defines: the text at hand, or what is indexed."""
    own = around.symbols if path == around.place.path else around.symbols_of(path)
    return own or FileSymbols()
