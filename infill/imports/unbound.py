"""Finds names without a definition: those that new code uses, or one that replaced code defined.

A name is looked up by its occurrences, so that the work grows with these and not with the file. A
name is said to be unbound only where nothing in the file might bind it. Where the language has
rules of names, a use that was bound and is not is certain. Members, and all names of other
languages, are looked for by the usual forms of a definition, in code alone.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import tree_sitter
from msgspec import structs

from intarsia.infill.imports.binding import UnboundName, package_name
from intarsia.infill.imports.import_lines import IMPORTS
from intarsia.infill.languages import Language, NameRules
from intarsia.infill.replacement import Replacement, with_replaced
from intarsia.infill.syntax.scopes import Chain, is_first, is_seen, place_in, scope_of_binding
from intarsia.infill.syntax.text import line_end, line_start
from intarsia.infill.syntax.tree import MAX_DEPTH, Syntax, is_code, node_text, nodes_at_byte, parse

MAX_CHARS = 400_000
MAX_USES = 300
"""Names of one insertion that are looked at."""
MAX_OCCURRENCES = 400
"""A name that is more frequent in a file is certainly bound in it."""

_MEMBERS = re.compile("class|enum|impl|interface|record|struct|trait|union")


def unbound_names(text: str, start: int, end: int, language: Language) -> tuple[UnboundName, ...]:
    """Return the names that ``text[start:end]`` uses and ``text`` does not bind, in order."""
    rules = language.names
    if rules is None or len(text) > MAX_CHARS or start >= end:
        return ()
    syntax = parse(text, language)
    if syntax is None:
        return ()
    found: dict[str, UnboundName] = {}
    bound = set(rules.known) | _packages(syntax)
    first, last = syntax.byte_at(start), syntax.byte_at(end)
    for chain in _uses(syntax, first, last, rules):
        name = node_text(chain[-1])
        if name in bound:
            continue
        if name not in found and _is_bound(syntax, chain, chain[-1].start_byte, name, rules):
            bound.add(name)
            continue
        one = _as_unbound(syntax, chain, name, rules)
        found[name] = _longer(found.get(name), one)
    return tuple(found.values())


def is_bound(syntax: Syntax, name: str, at: int) -> bool:
    """Whether a name is known at an offset: by the file, or by the language."""
    rules, byte = _rules(syntax), syntax.byte_at(at)
    chain = nodes_at_byte(syntax, byte) or [syntax.tree.root_node]
    is_known = name in rules.known or name in _packages(syntax)
    return is_known or _is_bound(syntax, chain, byte, name, rules)


def nearest_bindings(syntax: Syntax, name: str, at: int) -> Sequence[int]:
    """Return the bytes where the innermost scope that binds a name for an offset binds it."""
    rules, byte = _rules(syntax), syntax.byte_at(at)
    chain = nodes_at_byte(syntax, byte) or [syntax.tree.root_node]
    found = list(_bindings(syntax, chain, byte, name, rules))
    innermost = max((scope for scope, _ in found), default=0)
    return [start for scope, start in found if scope == innermost]


def is_left_unbound(syntax: Syntax, name: str) -> bool:
    """Whether the file uses a name somewhere that neither it nor the language binds there."""
    rules = structs.replace(_rules(syntax), only_uses=None)
    if name in rules.known or name in _packages(syntax):
        return False
    for match in islice(_occurrences(syntax, name), MAX_OCCURRENCES):
        chain = nodes_at_byte(syntax, match.start())
        is_name = len(chain) > 1 and chain[-1].type in rules.identifiers
        if not is_name or not _is_use(chain, rules) or any(it.type in IMPORTS for it in chain):
            continue
        if not _is_bound(syntax, chain, match.start(), name, rules):
            return True
    return False


def is_bound_variable(syntax: Syntax, at: int) -> bool:
    """Whether the name at an offset is bound there, and not as a member of what is around it."""
    chain = nodes_at_byte(syntax, syntax.byte_at(at))
    scope = scope_of_binding(chain, _rules(syntax))
    return scope is not None and not _MEMBERS.search(scope.type)


def _rules(syntax: Syntax) -> NameRules:
    rules = syntax.language.names
    assert rules is not None, "only names of languages with such rules are asked for"
    return rules


def _occurrences(syntax: Syntax, name: str) -> Iterator[re.Match[bytes]]:
    return re.finditer(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)", syntax.data)


def _packages(syntax: Syntax) -> set[str]:
    """Return the names of the packages that a Go file imports without a name of its own."""
    imports = syntax.language.imports
    if imports is None or imports.style != "quoted":
        return set()
    nodes = [it for it in syntax.tree.root_node.named_children if it.type == "import_declaration"]
    specs = [it for node in nodes for it in _below(node) if it.type == "import_spec"]
    paths = [it.child_by_field_name("path") for it in specs if not it.child_by_field_name("name")]
    return {package_name(node_text(it).strip('"`')) for it in paths if it is not None}


def _below(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for child in node.named_children:
        yield child
        yield from _below(child) if child.type == "import_spec_list" else ()


def _longer(known: UnboundName | None, one: UnboundName) -> UnboundName:
    """Return the first use of a name, with the longest path and as a type only if all are."""
    if known is None:
        return one
    path = max(known.path, one.path, key=len)
    return replace(known, path=path, is_type=known.is_type and one.is_type)


def _uses(syntax: Syntax, first: int, last: int, rules: NameRules) -> Iterator[Chain]:
    """Yield the names between two bytes that may mean something of the file or of an import."""
    num_uses = 0
    for chain in _leaves(syntax.tree.root_node, first, last):
        if chain[-1].type not in rules.identifiers or len(chain) < 2 or chain[-1].is_missing:
            continue
        if _is_use(chain, rules) and not any(it.type in IMPORTS for it in chain):
            yield chain
            num_uses += 1
            if num_uses == MAX_USES:
                return


def _leaves(root: tree_sitter.Node, first: int, last: int) -> Iterator[Chain]:
    stack: list[tuple[tree_sitter.Node, ...]] = [(root,)]
    while stack:
        chain = stack.pop()
        children = chain[-1].named_children if len(chain) < MAX_DEPTH else ()
        if not children:
            yield chain
            continue
        inside = [it for it in children if it.start_byte < last and it.end_byte > first]
        stack += [(*chain, child) for child in reversed(inside)]


def _is_use(chain: Chain, rules: NameRules) -> bool:
    parent, node = chain[-2], chain[-1]
    if parent.type in rules.first_only and not is_first(parent, node):
        return False
    place = place_in(parent, node)
    if parent.type == "token_tree":
        return _is_use_in_macro(node)
    if rules.only_uses is not None and place not in rules.only_uses:
        return False
    if place in rules.no_uses or scope_of_binding(chain, rules) is not None:
        return False
    if parent.type in ("jsx_opening_element", "jsx_self_closing_element", "jsx_closing_element"):
        return not node_text(node)[:1].islower()  # an element of HTML
    if parent.type in ("attribute", "marker_annotation"):
        return True
    is_call = parent.type == "method_invocation" and parent.child_by_field_name("name") == node
    return not is_call or parent.child_by_field_name("object") is None  # of Java


def _is_use_in_macro(node: tree_sitter.Node) -> bool:
    """Whether a name among a macro's tokens may be imported: no member, no end of a path."""
    before, after = node.prev_sibling, node.next_sibling
    if before is not None and before.type in (".", "::"):
        return False
    return node_text(node)[:1].isupper() or (after is not None and after.type == "::")


def _is_bound(syntax: Syntax, use: Chain, at: int, name: str, rules: NameRules) -> bool:
    """Whether something in the file binds this name where it is used, or might."""
    num_occurrences = len(list(islice(_occurrences(syntax, name), MAX_OCCURRENCES + 1)))
    is_frequent = num_occurrences > MAX_OCCURRENCES
    return is_frequent or any(_bindings(syntax, use, at, name, rules))


def _bindings(
    syntax: Syntax, use: Chain, at: int, name: str, rules: NameRules
) -> Iterator[tuple[int, int]]:
    """Yield where the scope of each binding begins that is seen at a use, and its own place."""
    for match in islice(_occurrences(syntax, name), MAX_OCCURRENCES):
        chain = nodes_at_byte(syntax, match.start())
        if len(chain) < 2 or chain[-1].type not in rules.identifiers:
            continue
        if chain[-2].type in rules.first_only and not is_first(chain[-2], chain[-1]):
            continue
        scope = scope_of_binding(chain, rules)
        if scope is not None and is_seen(scope, use, at):
            yield scope.start_byte, match.start()


def _as_unbound(syntax: Syntax, chain: Chain, name: str, rules: NameRules) -> UnboundName:
    node = chain[-1]
    is_type = node.type == "type_identifier" or (
        len(chain) > 2 and chain[-2].type in ("nested_type_identifier", "type_query")
    )
    return UnboundName(
        name=name,
        path=tuple(_path(chain, name, rules)),
        is_type=is_type,
        offset=syntax.offset_at(node.start_byte),
    )


def _path(chain: Chain, name: str, rules: NameRules) -> Iterator[str]:
    """Yield a name and the members that are taken of it."""
    yield name
    if rules.member_of is None:
        return
    member_type, field = rules.member_of
    for at in range(len(chain) - 1, 0, -1):
        parent = chain[at - 1]
        if parent.type != member_type or parent.child_by_field_name(field) != chain[at]:
            return
        yield node_text(parent.named_children[-1])


MAX_CHARS_COMPARED = 100_000
MAX_NAMES = 300
"""Names of a selection that are looked at."""

_NAME = re.compile(r"(?<![\w.$@])[$@]?([^\W\d]\w*)")
_NAMED = "class|defp?|enum|fn|fun|func|function|interface|module|proc|record|struct|sub|trait|type"
_VARIABLE = "const|let|local|my|our|static|val|var"
_NO_TYPE = "return|await|throw|yield|new|delete|goto|else|case|import|package|using"
_NO_METHOD = "if|for|while|switch|catch|match|with|foreach|unless|until|return"
_DEFINITION = re.compile(  # counts are limited: a line may be a whole minified file
    rf"\b(?:{_NAMED})[ \t]+(?:self\.|\([^()]{{0,80}}\)[ \t]*)?(?P<named>[^\W\d]\w*)"
    rf"|\b(?:{_VARIABLE})[ \t]+(?:mut[ \t]+)?[$@&*]?(?P<variable>[^\W\d]\w*)"
    # name = …, name: Type = …, name := …; not name += …, which is a use
    r"|(?<![\w.>])[$@]?(?P<assigned>[^\W\d]\w*)[ \t]*(?::[^\n=(){};]{0,80})?:?=(?![=>~])"
    r"|^[ \t]*(?P<field>[^\W\d]\w*)[?!]?:[ \t]*[\w\"'\[]"
    # Type name;  Type name(…) {  name(…) {
    rf"|^[ \t]*(?!(?:{_NO_TYPE})\b)[\w.]{{1,80}}[\w<>,.\[\]*&? \t]{{0,80}}[ \t*&]"
    r"(?P<typed>[^\W\d]\w*)[ \t]*(?:;|,|\([^;{}]{0,200}\)[^;{}\n()]{0,80}\{)"
    rf"|^[ \t]*(?!(?:{_NO_METHOD})\b)"
    r"(?P<method>[^\W\d]\w*)\([^;{}()]{0,200}\)[^;{}\n()]{0,80}\{",
    re.MULTILINE,
)


def lost_name(text: str, change: Replacement, language: Language) -> str | None:
    """Return the first name that the file uses and that the change leaves undefined, if any."""
    after = with_replaced(text, [change])
    if len(text) > MAX_CHARS_COMPARED or len(after) > MAX_CHARS_COMPARED:
        return None
    old, new = parse(text, language), parse(after, language)
    has_rules = language.names is not None
    if old is not None and new is not None and has_rules:
        names = dict.fromkeys(it[1] for it in _NAME.finditer(text, change.start, change.end))
        for name in islice(names, MAX_NAMES):
            if is_left_unbound(new, name) and not is_left_unbound(old, name):
                return name
    end = change.start + len(change.new)
    kept = {it.name for it in _definitions(after, new, 0, end)}
    below = _definitions(after, new, end, len(after))
    for one in _definitions(text, old, change.start, change.end):
        if one.name in kept:
            continue
        if not one.is_variable and _is_member(after, new, one.name, change.start, end):
            return one.name
        if not has_rules and _is_used(after, new, one.name, end, [it.at for it in below]):
            return one.name
    return None


@dataclass(frozen=True, slots=True)
class _Definition:
    name: str
    at: int
    is_variable: bool  # no member of anything


def _definitions(text: str, syntax: Syntax | None, start: int, end: int) -> list[_Definition]:
    """Return what a part of a text defines."""
    found = []
    for match in _DEFINITION.finditer(text, line_start(text, start), line_end(text, end)):
        assert match.lastgroup is not None, "each form has one group"
        at, name = match.start(match.lastgroup), match[match.lastgroup]
        if start <= at < end and is_code(syntax, at):
            is_variable = match.lastgroup in ("variable", "assigned")
            if syntax is not None and syntax.language.names is not None:
                is_variable = is_bound_variable(syntax, at)
            found.append(_Definition(name, at, is_variable))
    return found


def _is_member(text: str, syntax: Syntax | None, name: str, start: int, end: int) -> bool:
    """Whether a name stands as a member of something outside a range."""
    members = re.finditer(rf"(?:\.|->|::)\s*{re.escape(name)}\b", text)
    outside = (it for it in members if not start <= it.start() < end)
    return any(is_code(syntax, it.end() - 1) for it in outside)


def _is_used(
    text: str, syntax: Syntax | None, name: str, start: int, defined_at: Collection[int]
) -> bool:
    """Whether the text below an offset uses a name before it defines it."""
    below = re.compile(rf"(?<![\w.]){re.escape(name)}\b").finditer(text, start)
    found = [it.start() for it in below if is_code(syntax, it.start())]
    if not found or found[0] not in defined_at:
        return bool(found)
    return any(at <= line_end(text, found[0]) for at in found[1:])  # as in ``n = n + 1``
