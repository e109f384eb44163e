"""Infers which types an expression may have from the declarations of its file: the words of types.

``list[Line]`` has the words ``list`` and ``Line``, and so has what a loop over it takes out. Where
nothing is declared, nothing is told.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

import tree_sitter

from intarsia.infill.languages import NameRules, words
from intarsia.infill.syntax.scopes import (
    Chain,
    first_named,
    is_first,
    is_seen,
    place_in,
    scope_of_binding,
)
from intarsia.infill.syntax.tree import Syntax, node_text, nodes_at_byte

Binding: TypeAlias = tuple[Chain, tree_sitter.Node]
"""The node that binds a name, and the scope that it is seen in."""

MAX_OCCURRENCES = 3_000
MAX_STEPS = 12

RECEIVERS = {
    "attribute.attribute": "object",
    "member_expression.property": "object",
    "selector_expression.field": "operand",
    "field_expression.field": "value",
    "field_access.field": "object",
    "method_invocation.name": "object",
    "scoped_identifier.name": "path",
}
"""Places of members, and the field of the expression that has the member."""

CLASSES = words(
    "class_definition class_declaration abstract_class_declaration class interface_declaration"
    " enum_declaration record_declaration type_alias_declaration struct_item enum_item union_item"
    " trait_item impl_item type_spec method_declaration type_definition struct_specifier"
)
_WORD = re.compile(r"[^\W\d][\w$]*")
_SELF = words("self cls this Self super")
_ANY = words("Any any object unknown auto var")
_RETURNS = ("return_type", "result", "type")
_ITEMS = ("value", "right", "object", "operand", "argument", "array", "body")
_CREATED = ("constructor", "type", "name")
_CASTS = words(
    "type_assertion_expression type_assertion as_expression satisfies_expression cast_expression"
)
_CREATIONS = words("new_expression object_creation_expression composite_literal struct_expression")


class Names:
    """The names of one parsed text: where they stand, what binds them, what they belong to.

    ``told`` has the words of types of what other files declare: of an imported ``name``, and of a
    ``Class.member``. With it only what is declared is told, without it what is likely is, too.
    """

    def __init__(
        self, syntax: Syntax, rules: NameRules, told: Mapping[str, set[str]] | None = None
    ) -> None:
        self.syntax, self.rules = syntax, rules
        self._told, self._is_strict = told or {}, told is not None
        self._chains: dict[str, list[Chain]] = {}
        self.too_many = set[str]()  # names with occurrences that were not checked
        self._bindings: dict[str, list[Binding]] = {}

    def chains(self, name: str) -> list[Chain]:
        """Return each identifier that is this name, after all that it is in."""
        if name not in self._chains:
            pattern = re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])")
            starts = [it.start() for it in pattern.finditer(self.syntax.data)]
            if len(starts) > MAX_OCCURRENCES:
                self.too_many.add(name)
                del starts[MAX_OCCURRENCES:]
            chains = [nodes_at_byte(self.syntax, it) for it in starts]
            self._chains[name] = [
                it
                for it in chains
                if len(it) > 1 and "identifier" in it[-1].type and node_text(it[-1]) == name
            ]
        return self._chains[name]

    def variables(self, name: str) -> list[Chain]:
        """Return those that are no members."""
        return [it for it in self.chains(name) if self.is_variable(it)]

    def is_variable(self, chain: Chain) -> bool:
        place = place_in(chain[-2], chain[-1])
        if chain[-1].type not in self.rules.identifiers or self.receiver(chain) is not None:
            return False
        if place in self.rules.members or place in RECEIVERS or place in _NO_VARIABLES:
            return False
        if place == "import_specifier.name" and chain[-2].child_by_field_name("alias"):
            return False  # what another module calls it
        return chain[-2].type not in self.rules.first_only or is_first(chain[-2], chain[-1])

    def receiver(self, chain: Chain) -> tree_sitter.Node | None:
        """Return the expression that a member is taken of, None for all other names."""
        parent, node = chain[-2], chain[-1]
        if parent.type == "token_tree":  # of a macro of Rust
            dot = node.prev_sibling
            return dot.prev_sibling if dot is not None and dot.type in (".", "::") else None
        if parent.type == "method_reference":
            return None if is_first(parent, node) else first_named(parent)
        field = RECEIVERS.get(place_in(parent, node))
        if field is None:
            return None
        return parent.child_by_field_name(field) or parent.child_by_field_name("argument")

    def is_member(self, chain: Chain) -> bool:
        """Whether a member of a class is declared here."""
        if place_in(chain[-2], chain[-1]) in self.rules.members:
            return True
        at = len(chain) - 1
        while at and chain[at].type.endswith("declarator"):
            at -= 1
        if chain[-1].type == "field_identifier" and self.receiver(chain) is None:
            return any(it.type == "field_declaration" for it in chain[-4:])
        scope = scope_of_binding(chain, self.rules)
        is_generic = any("type_param" in it.type for it in chain[-3:])
        is_class = scope is not None and scope.type in CLASSES - {"method_declaration"}
        return is_class and not is_generic

    def owners(self, chain: Chain) -> frozenset[str]:
        """Return the names of the class around a node; with its trait, if it implements one."""
        for node in reversed(chain[:-1]):
            if node.type not in CLASSES:
                continue
            named = [node.child_by_field_name(it) for it in ("name", "trait", "declarator")]
            if node.type == "impl_item":
                named.append(node.child_by_field_name("type"))
            if node.type == "method_declaration":
                named = [node.child_by_field_name("receiver")]
                if named[0] is None:  # of Java
                    continue
                types = [it.child_by_field_name("type") for it in named[0].named_children]
                named = types[:1]
            if found := frozenset(it for one in named for it in self.words(one)):
                return found
        return frozenset()

    @cached_property
    def headers(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """The names of each class, and the words of what it says that it extends."""
        found, todo = [], [self.syntax.tree.root_node]
        while todo:
            node = todo.pop()
            body = node.child_by_field_name("body")
            if node.type in CLASSES and body is not None:
                name = node.child_by_field_name("name") or node.child_by_field_name("type")
                head = self.syntax.data[node.start_byte : body.start_byte].decode(
                    "utf-8", "replace"
                )
                found.append((frozenset(self.words(name)), frozenset(_WORD.findall(head))))
            if not node.type.endswith(("function_definition", "function_declaration")):
                todo += node.named_children
        return found

    def family(self, owners: frozenset[str]) -> frozenset[str]:
        """Return classes with all that extend them."""
        known = set(owners)
        for _ in self.headers:
            more = {it for names, head in self.headers if head & known for it in names} - known
            if not more:
                break
            known |= more
        return frozenset(known)

    def bindings(self, name: str) -> list[Binding]:
        """Return what binds a variable, with the scopes; one that Python's ``global`` lifts is not.

        The innermost scope comes last.
        """
        if name in self._bindings:
            return self._bindings[name]
        found = [(it, scope_of_binding(it, self.rules)) for it in self.variables(name)]
        lifted = {
            scope.id
            for it, scope in found
            if scope is not None and place_in(it[-2], it[-1]) in _LIFTED
        }
        kept = [(it, scope) for it, scope in found if scope is not None and scope.id not in lifted]
        self._bindings[name] = sorted(kept, key=lambda it: (it[1].start_byte, -it[1].end_byte))
        return self._bindings[name]

    def binding_of(self, chain: Chain) -> Binding | None:
        """Return the binding that a variable means, None if its file has none."""
        return self.bound(chain, node_text(chain[-1]))

    def bound(self, chain: Chain, name: str) -> Binding | None:
        """Return the binding that a name would mean at a place: the first one of its scope."""
        node, found = chain[-1], None
        for one, scope in self.bindings(name):
            is_anew = any(it.type == "let_declaration" for it in one[-4:])  # as in Rust
            is_known = found is not None and found[1].id == scope.id and not is_anew
            if one[-1].id == node.id:
                return found if is_known else (one, scope)
            if not is_known and is_seen(scope, chain, node.start_byte) and _is_after(node, one):
                found = one, scope
        return found

    def types_of(self, node: tree_sitter.Node | None, steps: int = MAX_STEPS) -> set[str] | None:
        """Return the words of the types that an expression may have; None if they are not known."""
        if node is None or not steps:
            return None
        kind = node.type
        if kind in ("self", "this", "super") or node_text(node) in _SELF:
            return set(self.owners(nodes_at_byte(self.syntax, node.start_byte))) or None
        if kind in _CREATIONS:
            return self.words(_field(node, _CREATED))
        if kind in _CASTS:
            typed = (it for it in node.named_children if "type" in it.type)
            return self._known(next(typed, None))
        if kind in ("call", "call_expression", "method_invocation"):
            return self._types_of_call(node, steps - 1)
        if "identifier" in kind and kind != "scoped_identifier":
            return self._types_of_name(nodes_at_byte(self.syntax, node.start_byte), steps - 1)
        member = _field(node, ("attribute", "property", "field"))
        if member is not None:
            return self._types_of_member(member, steps - 1)
        if "literal" in kind or kind in ("string", "integer", "float", "number"):
            return {kind}
        inner = _field(node, _ITEMS) or first_named(node)
        return self.types_of(inner, steps - 1)

    def _types_of_name(self, chain: Chain, steps: int) -> set[str] | None:
        name = self.binding_of(chain) if len(chain) > 1 else None
        if name is None:
            return {node_text(chain[-1])} if chain else None
        bound = name[0]
        around = list(_within_scope(bound, self.rules))
        for parent, child in around:
            is_named = parent.child_by_field_name("name") == child
            is_class = is_named and parent.type in CLASSES
            if is_class or "import" in parent.type or "use_" in parent.type:
                return self._told.get(node_text(chain[-1])) or {node_text(chain[-1])}
            if is_named and "function" in parent.type:
                return self._known(_field(parent, _RETURNS))
            if parent.type in _LAMBDAS:
                above = bound[: bound.index(parent)]
                return self._types_of_argument(above, steps)
            typed = parent.child_by_field_name("type")
            if typed is not None and typed != child and (found := self._known(typed)):
                return found
        given = (_field(it, ("value", "right")) for it, child in around)
        return self.types_of(next((it for it in given if it is not None), None), steps)

    def _types_of_argument(self, above: Chain, steps: int) -> set[str] | None:
        """Return what a function gets that is passed to a method of a list, or beside a list."""
        call = next(
            (it for it in reversed(above[-4:]) if "call" in it.type or "inv" in it.type), None
        )
        if call is None:
            return None
        function = call.child_by_field_name("function") or call
        receiver = _field(function, ("object", "operand", "value", "argument"))
        return self.types_of(receiver or _first_argument(call), steps)

    def _types_of_call(self, node: tree_sitter.Node, steps: int) -> set[str] | None:
        called = node.child_by_field_name("function") or node.child_by_field_name("name")
        if called is None:
            return None
        member = _field(called, ("attribute", "property", "field"))
        is_method = called.type == "scoped_identifier" or node.child_by_field_name("object")
        if member is not None or is_method:
            member = member or called.child_by_field_name("name") or called
            chain = nodes_at_byte(self.syntax, member.start_byte)
            found = self._types_of_member(member, steps)
            if found is not None or not chain or self._is_strict:
                return found
            return self.types_of(self.receiver(chain), steps)
        name = node_text(called)
        if name == "super":
            return self.types_of(called, steps)
        if self.variables(name) and self.bindings(name):
            bound = self.bindings(name)[0][0]
            if not any("import" in it.type for it in bound[-4:]):
                return self.types_of(called, steps)
        if name[:1].isupper() or name in self._told:
            return self._told.get(name) or {name}
        return None if self._is_strict else self.types_of(_first_argument(node), steps)

    def _types_of_member(self, member: tree_sitter.Node, steps: int) -> set[str] | None:
        """Return the words of what a class of the file declares for a member."""
        chain = nodes_at_byte(self.syntax, member.start_byte)
        of = self.types_of(self.receiver(chain), steps) if len(chain) > 1 else None
        name = node_text(member)
        family = self.family(frozenset(of or ()))
        fitting = [
            it
            for it in self.chains(name)
            if self.is_member(it)
            and (self.owners(it) & family or (of is None and not self._is_strict))
        ]
        found = {word for it in fitting for word in self._declared(it)}
        return found.union(*(self._told.get(f"{it}.{name}", ()) for it in family)) or None

    def _declared(self, chain: Chain) -> Iterator[str]:
        for node in reversed(chain[-4:-1]):
            if (typed := _field(node, _RETURNS)) is not None:
                return iter(self._known(typed) or ())
        return iter(())

    def _known(self, node: tree_sitter.Node | None) -> set[str] | None:
        found = self.words(node) - {"None", "null", "undefined"}
        return None if not found or found & _ANY else found

    def words(self, node: tree_sitter.Node | None) -> set[str]:
        """Return the words of a type; ``Self`` is the class around it."""
        found = set() if node is None else set(_WORD.findall(node_text(node)))
        if node is not None and "Self" in found:
            found |= self.owners(nodes_at_byte(self.syntax, node.start_byte))
        return found


_NO_VARIABLES = words("keyword_argument.name type_predicate.name")
_LIFTED = words("global_statement nonlocal_statement")
_LAMBDAS = words("lambda arrow_function closure_expression lambda_expression")
_ANEW = ("let_declaration", "short_var_declaration")


def _field(node: tree_sitter.Node, names: tuple[str, ...]) -> tree_sitter.Node | None:
    return next((it for name in names if (it := node.child_by_field_name(name)) is not None), None)


def _first_argument(call: tree_sitter.Node) -> tree_sitter.Node | None:
    arguments = call.child_by_field_name("arguments")
    return None if arguments is None else first_named(arguments)


def _is_after(node: tree_sitter.Node, bound: Chain) -> bool:
    """Whether a name stands where a local variable is known already."""
    made = next((it for it in reversed(bound[-4:]) if it.type in _ANEW), None)
    return made is None or node.start_byte >= made.end_byte


def _within_scope(
    bound: Chain, rules: NameRules
) -> Iterator[tuple[tree_sitter.Node, tree_sitter.Node]]:
    """Yield what is around a name up to its scope, each with the part that the name is in."""
    for at in range(len(bound) - 2, max(-1, len(bound) - 8), -1):
        yield bound[at], bound[at + 1]
        if bound[at].type in rules.scopes:
            return
