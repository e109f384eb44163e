"""Finds the uses of the name that a text declares at an offset, where its syntax makes them sure.

Variables are followed through their scopes, members by the types that their receivers are declared
with. Where no type is told, a member counts if nothing else is known to have it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from intarsia.infill.languages import words
from intarsia.infill.next_edit.receivers import Names
from intarsia.infill.syntax.nodes import node_text, nodes_at
from intarsia.infill.syntax.parse import Syntax
from intarsia.infill.syntax.scopes import Chain, first_named, place_in, scope_of_binding

_COMMON = frozenset(dir(str) + dir(list) + dir(dict) + dir(set) + dir(object)) | words(
    "length size name value id key data type push map filter find some every slice forEach then"
    " catch get set add put len iter read write close open path text"
)
"""Members that many libraries have: what nothing is told of may as well be one of theirs."""

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
