"""Finds a name that a replaced piece of code defined, that its file uses, and that nothing defines.

Where the language has rules of names, a use that was bound and is not is certain. Members, and all
names of other languages, are looked for by the usual forms of a definition, in code alone.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

from intarsia.infill.imports.unbound import is_bound_variable, is_left_unbound
from intarsia.infill.languages import Language
from intarsia.infill.replacement import Replacement, with_replaced
from intarsia.infill.syntax.lines import line_end, line_start
from intarsia.infill.syntax.nodes import is_code
from intarsia.infill.syntax.parse import Syntax, parse

MAX_CHARS = 100_000
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
    if len(text) > MAX_CHARS or len(after) > MAX_CHARS:
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
