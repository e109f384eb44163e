"""Finds the uses of a declared name that are sure, in its own text and in those of other files.

Variables are followed through their scopes, members by the types that their receivers are declared
with. Where no type is told, a member counts if nothing else is known to have it; but in another
file only where that file declares the type: another package's type may have a member of the same
name. What a file imports is told by the caller.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import tree_sitter

from intarsia.infill.languages import NameRules, words
from intarsia.infill.next_edit.receivers import Names
from intarsia.infill.replacement import Replacement
from intarsia.infill.syntax.scopes import Chain, first_named, place_in, scope_of_binding
from intarsia.infill.syntax.tree import Syntax, node_text, nodes_at, nodes_at_byte

_COMMON = frozenset(dir(str) + dir(list) + dir(dict) + dir(set) + dir(object)) | words(
    "length size name value id key data type push map filter find some every slice forEach then"
    " catch get set add put len iter read write close open path text"
)
"""Members that many libraries have: on a receiver of unknown type, the member may be theirs."""

SHORTHANDS = words(
    "shorthand_property_identifier shorthand_property_identifier_pattern shorthand_field_identifier"
)
SHORT_FIELD = "shorthand_field_initializer"
_KEYS = words(
    "pair.key pair_pattern.key field_initializer.field field_pattern.name field_designator"
)
_SET_AGAIN = words("assignment for_statement short_var_declaration named_expression")


@dataclass(frozen=True, kw_only=True, slots=True)
class Use:
    """A name at an offset. ``form`` has what to write there for ``{old}`` and ``{new}``."""

    start: int
    form: str = "{new}"


def uses_of(syntax: Syntax, at: int, new: str) -> tuple[Use, ...] | None:
    """Return all uses of the name declared at an offset, and itself, in order.

    None where it is no declaration, or the new name has a meaning there already.
    """
    language, declared = syntax.language, nodes_at(syntax, at)
    rules = language.names or language.local_names
    if rules is None or len(declared) < 2:
        return None
    names, name = Names(syntax, rules), node_text(declared[-1])
    if not names.chains(name) or name in names.too_many:
        return None
    found: dict[int, str] | None = {}
    is_variable = names.is_variable(declared) and scope_of_binding(declared, rules) is not None
    is_member = declares_member(names, declared)
    if is_variable:
        found = _variables(names, declared, new)
    if is_member and found is not None:
        more = _members(names, declared, new)
        found = None if more is None else found | more
    if not found or not (is_variable or is_member):
        return None
    return tuple(Use(start=syntax.offset_at(it), form=found[it]) for it in sorted(found))


def _variables(names: Names, declared: Chain, new: str) -> dict[int, str] | None:
    name, home = node_text(declared[-1]), names.binding_of(declared)
    is_first = home is not None and home[0][-1].id == declared[-1].id
    if home is None or not (is_first or declared[-2].type not in _SET_AGAIN):
        return None
    bindings = [(it, names.binding_of(it)) for it in names.variables(name)]
    own = [it for it, bound in bindings if bound and bound[0][-1].id == home[0][-1].id]
    scope = home[1]
    for other in names.variables(new):
        bound = names.bound(other, new)
        is_inside = scope.start_byte <= other[-1].start_byte < scope.end_byte
        if is_inside and (bound is None or bound[1].end_byte >= scope.end_byte):
            return None
    if any((bound := names.bound(it, new)) and is_within(bound[1], scope) for it in own):
        return None
    found = {it[-1].start_byte: form_of_variable(it) for it in own}
    return found | dict.fromkeys(_named_arguments(names, declared), "{new}")


def is_within(inner: tree_sitter.Node, outer: tree_sitter.Node) -> bool:
    return outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte


def form_of_variable(chain: Chain) -> str:
    parent = chain[-2].type
    if chain[-1].type in SHORTHANDS or parent == SHORT_FIELD:
        return "{old}: {new}"
    is_whole = parent == "export_specifier" and chain[-2].named_child_count == 1
    return "{new} as {old}" if is_whole else "{new}"


def _named_arguments(names: Names, declared: Chain) -> Iterator[int]:
    """Yield where calls of Python name the parameter that is declared."""
    at = next((i for i, it in enumerate(declared) if it.type == "parameters"), None)
    function = None if at is None else declared[at - 1].child_by_field_name("name")
    if function is None:
        return
    called = {node_text(function)}
    called |= names.owners(declared) if called == {"__init__"} else set()
    for chain in names.chains(node_text(declared[-1])):
        if place_in(chain[-2], chain[-1]) == "keyword_argument.name" and len(chain) > 3:
            callee = chain[-4].child_by_field_name("function")
            if callee is not None and node_text(callee).rpartition(".")[2] in called:
                yield chain[-1].start_byte


def declares_member(names: Names, declared: Chain) -> bool:
    if names.is_member(declared):
        return True
    if any(it.type == "accessibility_modifier" for it in declared[-2].children):
        return declared[-2].type == "required_parameter"  # TypeScript's parameter is a field, too
    target = declared[-3] if len(declared) > 3 else None
    is_set = target is not None and target.child_by_field_name("left") == declared[-2]
    own = names.receiver(declared)
    return is_set and own is not None and node_text(own) in ("self", "this")


def _members(names: Names, declared: Chain, new: str) -> dict[int, str] | None:
    name, owners = node_text(declared[-1]), names.owners(declared)
    family = names.family(owners)
    if any(declares_member(names, it) and names.owners(it) & family for it in names.chains(new)):
        return None
    chains = names.chains(name)
    members = [it for it in chains if declares_member(names, it)]
    own = [it for it in members if names.owners(it) & family]
    is_set_again = own[:1] != [declared] and names.receiver(declared) is not None
    if not owners or is_set_again:
        return None
    is_unique = name not in _COMMON and len(own) == len(members)
    found = {it[-1].start_byte: "{new}" for it in own}
    for chain in chains:
        types = types_of_owner(names, chain, declared, family)
        if types is not None and (types & family or (is_unique and not types)):
            is_short = chain[-1].type in SHORTHANDS or chain[-2].type == SHORT_FIELD
            found[chain[-1].start_byte] = "{new}: {old}" if is_short else "{new}"
    return found


def types_of_owner(
    names: Names, chain: Chain, declared: Chain, family: frozenset[str]
) -> set[str] | None:
    """Return the types that a member is taken of, none where they are not told.

    None: the name is no member.
    """
    receiver, place = names.receiver(chain), place_in(chain[-2], chain[-1])
    if receiver is not None:
        return names.types_of(receiver) or set()
    if place == "method_invocation.name":
        return set(names.owners(chain))
    if chain[-2].type == "switch_label":
        return set()
    if place == "keyword_argument.name":
        return _types_of_call(names, chain, family)
    if chain[-3].type == "keyed_element" and first_named(chain[-3]) == chain[-2]:
        return _types_of_literal(names, chain[:-1], declared)
    is_key = place in _KEYS and not names.is_variable(chain)
    if is_key or chain[-1].type in SHORTHANDS or chain[-2].type == SHORT_FIELD:
        return _types_of_literal(names, chain, declared)
    return None


def _types_of_call(names: Names, chain: Chain, family: frozenset[str]) -> set[str] | None:
    """Return the types whose fields are named by an argument in a call of Python."""
    call = chain[-4]
    callee = call.child_by_field_name("function")
    if callee is None or any(names.owners(it) & family for it in names.chains("__init__")):
        return None
    last = node_text(callee).rpartition(".")[2]
    if last in family or last == "cls":
        return set(family)
    return names.types_of(call) if last in ("replace", "_replace") else None


def _types_of_literal(names: Names, chain: Chain, declared: Chain) -> set[str] | None:
    """Return the types of an object that is written or taken apart by its keys."""
    for node in reversed(chain[-7:-2]):
        typed = node.child_by_field_name("type")
        if typed is None and node.type == "struct_expression":
            typed = node.child_by_field_name("name")
        if typed is not None:
            return names.words(typed)
        if node.type in ("arguments", "pair"):
            break
    literal = chain[-2] if chain[-1].type in SHORTHANDS else chain[-3]
    value = chain[-4].child_by_field_name("value") if literal.type == "object_pattern" else None
    if value is not None and (types := names.types_of(value)):
        return types
    keys = {node_text(it.child_by_field_name("key") or it) for it in literal.named_children}
    fields = (it.child_by_field_name("name") for it in declared[-3].named_children)
    known = {node_text(it) for it in fields if it is not None}
    is_shape = declared[-2].type == "property_signature"  # TypeScript's types are structures
    is_all = is_shape and keys <= known and len(keys) >= min(2, len(known))
    return set(names.owners(declared)) if is_all else {""}


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
    find = {"thing": _things, "member": _members_elsewhere, "parameter": _arguments}[declared.kind]
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


def _members_elsewhere(names: Names, declared: Declaration, reach: Reach, new: str) -> _Found:
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
