"""Finds the uses of a renamed declaration in the texts of other files, where these are sure.

What a file imports is told by the caller. Members count only where the file declares the type of
what has them: another package's type may have a member of the same name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import tree_sitter

from intarsia.infill.languages import NameRules, words
from intarsia.infill.next_edit.receivers import Names
from intarsia.infill.next_edit.uses import (
    declares_member,
    form_of_variable,
    types_of_owner,
    uses_of,
)
from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.nodes import node_text, nodes_at, nodes_at_byte
from intarsia.infill.syntax.parse import Syntax
from intarsia.infill.syntax.scopes import Chain, place_in, scope_of_binding

TOLD = "\0declared"
"""The word of a type that other files declare: that of the class with the renamed member."""

_IMPORTED = words(
    "import_specifier.name export_specifier.name aliased_import.name import_from_statement.name"
    " scoped_identifier.name use_list use_as_clause.path"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """A name that other files may use: by itself, or as a part of one of its ``holders``.

    ``holders`` are the classes that have a member, or the functions that have a parameter; of a
    ``thing``, its own name.
    """

    name: str
    kind: Literal["thing", "member", "parameter"]
    holders: frozenset[str]
    chain: Chain
    takes_fields: bool  # the class has no constructor of its own whose parameters count


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """How a file knows the holders of a declaration of another file.

    ``names`` are what it calls them, and ``modules`` what has them as members; ``rows`` and
    ``module_rows`` are where their imports begin. ``is_open``: it knows them without an import of
    each. ``told`` is for ``Names``.
    """

    names: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    rows: frozenset[int] = frozenset()
    module_rows: frozenset[int] = frozenset()
    is_open: bool = False
    told: Mapping[str, set[str]] = field(default_factory=dict)

    @property
    def is_any(self) -> bool:
        return bool(self.names or self.modules or self.told or self.is_open)


def declaration_at(syntax: Syntax, at: int, new: str) -> Declaration | None:
    """Return what is declared at an offset and seen by other files; None: nothing, or not all."""
    rules, chain = syntax.language.names, nodes_at(syntax, at)
    if rules is None or len(chain) < 2 or uses_of(syntax, at, new) is None:
        return None
    names, name = Names(syntax, rules), node_text(chain[-1])
    scope = scope_of_binding(chain, rules)
    parameters = next((i for i, it in enumerate(chain) if it.type == "parameters"), None)
    kind: Literal["thing", "member", "parameter"] = "thing"
    holders, takes_fields = frozenset({name}), True
    if declares_member(names, chain):
        kind, holders = "member", names.family(names.owners(chain))
        takes_fields = not any(names.owners(it) & holders for it in names.chains("__init__"))
    elif parameters is not None and rules.has_arguments:
        kind, function = "parameter", chain[parameters - 1].child_by_field_name("name")
        own = frozenset() if function is None else frozenset({node_text(function)})
        is_outer = all(it.type in _TOP_LEVEL for it in chain[: parameters - 1])
        holders = names.owners(chain) if own == {"__init__"} else own if is_outer else frozenset()
    elif scope is None or scope.parent is not None or not _is_exported(rules, chain):
        return None
    if not holders:
        return None
    return Declaration(
        name=name, kind=kind, holders=holders, chain=chain, takes_fields=takes_fields
    )


_TOP_LEVEL = ("module", "decorated_definition")


def _is_exported(rules: NameRules, chain: Chain) -> bool:
    if not rules.are_exports_marked:
        return True
    exports = [it for it in chain if it.type == "export_statement"]
    return any(it.child_by_field_name("declaration") in chain for it in exports) and not any(
        child.type == "default" for it in exports for child in it.children
    )


def keeps_name(syntax: Syntax, name: str, new: str) -> bool:
    """Whether a file that imports a name goes on to call it that: it has the new name already.

    Or it has the name by a second way, too; or a list of strings passes it on, as ``__all__``.
    """
    rules = syntax.language.names
    if rules is None or (names := Names(syntax, rules)).variables(new):
        return True
    if sum(scope.parent is None for _, scope in names.bindings(name)) > 1:
        return True
    data = syntax.data.decode("utf-8", "replace")
    is_listed = f'"{name}"' in data or f"'{name}'" in data
    return is_listed and rules.export_list != "" and rules.export_list in data


def uses_elsewhere(
    syntax: Syntax, declared: Declaration, reach: Reach, new: str
) -> tuple[Replacement, ...]:
    """Return what the rename changes in the text of another file, in order."""
    rules = syntax.language.names
    if rules is None:
        return ()
    names = Names(syntax, rules, reach.told)
    if not names.chains(declared.name) or declared.name in names.too_many:
        return ()
    find = {"thing": _things, "member": _members, "parameter": _arguments}[declared.kind]
    found = {
        syntax.offset_at(chain[-1].start_byte): form
        for chain, form in find(names, declared, reach, new)
    }
    length = len(declared.name)
    return tuple(
        Replacement(start=it, end=it + length, new=found[it].format(old=declared.name, new=new))
        for it in sorted(found)
    )


_Found: TypeAlias = Iterator[tuple[Chain, str]]


def _things(names: Names, declared: Declaration, reach: Reach, new: str) -> _Found:
    is_kept = keeps_name(names.syntax, declared.name, new)
    for chain in names.chains(declared.name):
        place, receiver = place_in(chain[-2], chain[-1]), names.receiver(chain)
        if chain[-2].type == "dotted_name":
            place = place_in(chain[-3], chain[-2])
        if place in _IMPORTED and _is_in_import(chain, reach.rows):
            is_alias = any(it.child_by_field_name("alias") for it in chain[-3:-1])
            if not is_kept or is_alias:
                yield chain, "{new}"
            elif names.syntax.language.imports and names.syntax.language.imports.has_aliases:
                yield chain, "{new} as {old}"
        elif any(it.type == "use_declaration" for it in chain):
            continue  # of Rust: what its own import leaves out
        elif receiver is not None or chain[-2].type in _QUALIFIED:
            if _is_module(names, chain, receiver, reach):
                yield chain, "{new}"
        elif names.is_variable(chain) and not is_kept and not _is_field_of_go(chain):
            bound = names.binding_of(chain)
            if _is_in_import(bound[0], reach.rows) if bound else reach.is_open:
                yield chain, form_of_variable(chain)


def _members(names: Names, declared: Declaration, reach: Reach, new: str) -> _Found:
    known = frozenset(it for it in reach.names | declared.holders if _is_known(names, it, reach))
    family = names.family(known | {TOLD})
    if any(declares_member(names, it) and names.owners(it) & family for it in names.chains(new)):
        return
    for chain in names.chains(declared.name):
        if declares_member(names, chain):
            types = set(names.owners(chain))
        elif chain[-2].type == "keyword_argument" and not declared.takes_fields:
            continue
        else:
            types = types_of_owner(names, chain, declared.chain, family) or set()
            receiver = names.receiver(chain)
            head, _, last = ("" if receiver is None else node_text(receiver)).rpartition(".")
            if head in reach.modules and last in declared.holders:
                types = {TOLD}
        if types & family:
            is_short = "shorthand" in chain[-1].type or chain[-2].type.startswith("shorthand")
            yield chain, "{new}: {old}" if is_short else "{new}"


def _arguments(names: Names, declared: Declaration, reach: Reach, new: str) -> _Found:
    functions = {it for it in reach.names if _is_known(names, it, reach)}
    functions |= {f"{module}.{it}" for module in reach.modules for it in declared.holders}
    for chain in names.chains(declared.name):
        if place_in(chain[-2], chain[-1]) == "keyword_argument.name" and len(chain) > 3:
            called = chain[-4].child_by_field_name("function")
            if called is not None and node_text(called) in functions:
                yield chain, "{new}"


def _is_known(names: Names, name: str, reach: Reach) -> bool:
    """Whether a name means a holder wherever the file has it, by itself and behind a module."""
    return bool(names.chains(name)) and all(
        _is_in_import(it, reach.rows) or _is_holder(names, it, reach) for it in names.chains(name)
    )


def _is_holder(names: Names, chain: Chain, reach: Reach) -> bool:
    receiver = names.receiver(chain)
    if receiver is not None or chain[-2].type in _QUALIFIED:
        return _is_module(names, chain, receiver, reach)
    bound = names.binding_of(chain)
    return reach.is_open if bound is None else _is_in_import(bound[0], reach.rows)


def _is_module(names: Names, chain: Chain, receiver: tree_sitter.Node | None, reach: Reach) -> bool:
    """Whether a name is taken of a module with the holders, and of no variable of that name."""
    node = receiver or chain[-2].child(0)
    if node is None or node_text(node) not in reach.modules:
        return False
    first = nodes_at_byte(names.syntax, node.start_byte)
    bound = names.binding_of(first) if names.is_variable(first) else None
    return bound is None or _is_in_import(bound[0], reach.module_rows)


_QUALIFIED = ("qualified_type", "nested_type_identifier", "scoped_type_identifier")


def _is_field_of_go(chain: Chain) -> bool:
    """Whether a name is the key of a literal that may be one of a struct."""
    if len(chain) < 5 or chain[-3].type != "keyed_element" or chain[-3].child(0) != chain[-2]:
        return False
    typed = chain[-5].child_by_field_name("type")
    return typed is None or typed.type not in ("map_type", "slice_type", "array_type")


def _is_in_import(chain: Chain, rows: frozenset[int]) -> bool:
    return any(it.start_point.row in rows and it.type.startswith(_IMPORTS) for it in chain[1:])


_IMPORTS = ("import_", "use_declaration", "mod_item", "export_statement", "lexical_declaration")
