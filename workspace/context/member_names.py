"""The names of all members of the type of ``user`` where ``user.`` is written at the hole.

A name is left out only if no member can have it, so nothing is known of a type unless each of its
classes is read whole: no class of a library, no class that makes members as it runs, and none that
is being written at the hole.
"""

import re
from collections.abc import Sequence
from itertools import accumulate, takewhile

from intarsia.infill.imports.unbound import nearest_bindings
from intarsia.infill.languages import words
from intarsia.infill.syntax.tree import parse
from intarsia.workspace.context.candidate import Surroundings
from intarsia.workspace.context.chunk import ChunkOptions, Place
from intarsia.workspace.context.receiver import (
    MAX_BASES,
    OWN_NAMES,
    class_named,
    declaration_of,
    symbols_of,
    type_of,
    with_bases,
)
from intarsia.workspace.index.project_index import ProjectIndex
from intarsia.workspace.symbols.symbols import Definition

MAX_NAMES = 300

_HEADER_WORDS = words(
    "class interface export default declare abstract extends implements metaclass ABCMeta"
)
_ALIAS = re.compile(
    r"\A\s*(?:export\s+|declare\s+)*type\s+\w+[^={]*=\s*(?P<type>\{.*\}[;\s]*)\Z", re.DOTALL
)
_BRACKETS = re.compile(r"\[[^\[\]]*\]|<[^<>]*>")
_KEYWORD = re.compile(r"\b(?:class|interface|type|enum)\b")
_DECORATOR = re.compile(r"@(?:\w+\.)*(\w+)")
_MAY_DECORATE = re.compile(r"[@)]")
_HARMLESS = words("dataclass final runtime_checkable define frozen mutable s")
_ANY_KEY = re.compile(
    r"(?:^|[{;,])[ \t]*(?:readonly[ \t]+)?[-+]?\[[ \t]*\w+[ \t]*(?::|in\b)", re.MULTILINE
)
_GOES_ON = re.compile(r"\s*[&|<\[]")  # a declared type of which only the beginning was read
_ANY_NAME = words("__getattr__ __getattribute__")
_NARROWS = r"isinstance\(\s*{0}\b|\b{0}\s+instanceof\b|\bin\s+{0}\b|\b{0}\)?\s+(?:as|is)\s"


def member_names(index: ProjectIndex, place: Place) -> Sequence[str]:
    """Return the names; () where the type is not known whole, or the code narrows it."""
    around = Surroundings(index, place, ChunkOptions())
    receiver, members_of = around.neighbourhood.receiver, place.language.library_members
    if members_of is None or not receiver or not _has_one_type(receiver, place):
        return ()
    found = type_of(around, receiver)
    classes = list(with_bases(around, found)) if found else []
    names: dict[str, None] = {}
    for path, one in classes:
        symbols = symbols_of(around, path)
        own = {it.name: None for it in symbols.definitions if it.container == one.name}
        if own.keys() & _ANY_NAME or not _is_whole(around, path, one):
            return ()
        names.update(own)
    if not names or len(classes) > MAX_BASES:
        return ()
    bases = ("", *(base.rpartition(".")[2] for _, one in classes for base in one.bases))
    names.update((name, None) for base in bases for name in members_of(base) or ())
    return tuple(names) if len(names) <= MAX_NAMES else ()


def _has_one_type(receiver: str, place: Place) -> bool:
    """Whether the code above gives the receiver one type, by the binding that its name has here."""
    before, name = place.text[: place.offset], receiver.partition(".")[0]
    if receiver in OWN_NAMES or re.search(_NARROWS.format(re.escape(receiver)), before):
        return False
    syntax = None if name in OWN_NAMES else parse(place.text, place.language)
    if syntax is None:
        return name in OWN_NAMES
    bindings = nearest_bindings(syntax, name, before.rindex(name))
    declared, start, end = declaration_of(name, before, place.language)
    if not declared or len(bindings) != 1:
        return len(bindings) == 1
    is_meant = syntax.byte_at(start) <= bindings[0] < syntax.byte_at(end)
    return is_meant and not _GOES_ON.match(before, end)


def _is_whole(around: Surroundings, path: str, one: Definition) -> bool:
    """Whether all members of a class are in its body, or in bases that are known."""
    members_of = around.place.language.library_members
    assert members_of is not None, "of no other language a class is looked at"
    text = around.place.text if path == around.place.path else around.index.read(path) or ""
    lines = text.split("\n")
    written = "\n".join(lines[one.start_line : one.end_line])
    if _ANY_KEY.search(written):
        return False
    if alias := _ALIAS.match(written):
        return _is_closed_at_end(alias["type"].rstrip("; \n"))
    header, num_changes = _BRACKETS.subn("", one.signature)
    while num_changes:
        header, num_changes = _BRACKETS.subn("", header)
    head = _KEYWORD.split(header, maxsplit=1)[-1]
    unknown = {*re.findall(r"[\w.]+", head)} - {one.name, *one.bases} - _HEADER_WORDS
    bases = [it for it in one.bases if members_of(it.rpartition(".")[2]) is None]
    return (
        not unknown
        and len(one.bases) <= MAX_BASES
        and _are_harmless(lines[: one.start_line], one.signature)
        and all(class_named(around, path, base) for base in bases)
    )


def _are_harmless(above: Sequence[str], signature: str) -> bool:
    """Whether no decorator of a class is known to add members, or not known at all."""
    decorators = [*takewhile(_MAY_DECORATE.match, map(str.strip, reversed(above))), signature]
    return {it for line in decorators for it in _DECORATOR.findall(line)} <= _HARMLESS and not any(
        line.startswith(")") for line in decorators
    )


def _is_closed_at_end(braced: str) -> bool:
    """Whether the first brace of an object type is closed by its last character, and not before."""
    depths = [*accumulate((it == "{") - (it == "}") for it in braced)]
    return depths.index(0) == len(braced) - 1 if 0 in depths else False
