"""Signatures of one file, written as a stub of it: headers without bodies, members in their class.

Signatures carry nearly all that bodies do for a model that completes code (HCP, arXiv 2406.18294),
in a small part of the length. The model reads a stub as it read them in its training: as a file.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from intarsia.infill.languages import Language, StubStyle
from intarsia.workspace.symbols.symbols import Definition

_TYPES = ("class", "type", "module")
_CALLABLE = ("function", "method")
CONSTRUCTORS = frozenset({"__init__", "constructor", "new", "New", "initialize", "init"})

MAX_SIGNATURE_CHARS = 240
"""Without decorators; a longer one is cut."""
MAX_MEMBER_CHARS = 140
"""The most characters of a field, or of a method that is no constructor."""
_MAX_TAIL_CHARS = 60

_DECORATOR = re.compile(r"(@[\w.]+(?:\([^()]*\))?)\s+")
_COMMENT = re.compile(r"\s*/\*.*?(?:\*/|$)")
_SELF = re.compile(r"^(?:self|cls)\.")


class Stub:
    """A stub that grows by one definition at a time, so that a budget can be kept."""

    def __init__(self, definitions: Sequence[Definition], language: Language) -> None:
        """Start an empty stub of a file with these definitions."""
        self._headers = {
            qualified_name(one): one for one in reversed(definitions) if one.kind in _TYPES
        }
        self._containers = {one.container for one in definitions}
        self._style = language.stub
        self._chosen: dict[tuple[int, str], Definition] = {}

    def __contains__(self, definition: Definition) -> bool:
        return _key(definition) in self._chosen

    def add(self, definition: Definition) -> None:
        """Add a definition and the headers of the classes that it is in."""
        for one in (*self._classes_around(definition), definition):
            self._chosen.setdefault(_key(one), one)

    def line(self, definition: Definition) -> str:
        """Return the definition as it is written in the stub: its decorators and one line."""
        is_member = definition.kind in ("field", "method") and definition.name not in CONSTRUCTORS
        max_chars = MAX_MEMBER_CHARS if is_member else MAX_SIGNATURE_CHARS
        return _written(definition.signature, definition.kind, self._style, max_chars)

    def header(self, definition: Definition) -> str:
        """Return the line of a definition without its decorators and without its end."""
        line = self.line(definition).rpartition("\n")[2]
        return line.removesuffix(self._style.function_end) if self._style.function_end else line

    def cost_with(self, definition: Definition) -> int:
        """Return the characters of the stub's text if the definition were added."""
        before = dict(self._chosen)
        self.add(definition)
        cost = len(self.text())
        self._chosen = before
        return cost

    def text(self) -> str:
        """Return the stub, without a line end after the last line."""
        chosen = sorted(self._chosen.values(), key=lambda one: (one.start_line, -one.end_line))
        names = {qualified_name(one) for one in chosen if one.kind in _TYPES}
        tops = [one for one in chosen if not self._is_inside(one, names)]
        return "\n".join(self._lines(tops, chosen, ""))

    def _is_inside(self, one: Definition, names: set[str]) -> bool:
        if self._style.are_methods_outside and one.kind in _CALLABLE:
            return False
        return one.container in names and qualified_name(one) != one.container

    def _lines(
        self, tops: Sequence[Definition], chosen: Sequence[Definition], indent: str
    ) -> Iterator[str]:
        for one in tops:
            if one.kind in _TYPES:
                yield from self._class_lines(one, chosen, indent)
            else:
                yield from (indent + line for line in self.line(one).split("\n"))

    def _class_lines(
        self, header: Definition, chosen: Sequence[Definition], indent: str
    ) -> Iterator[str]:
        style, name = self._style, qualified_name(header)
        members = [one for one in chosen if one.container == name and one is not header]
        if style.are_methods_outside:
            members = [one for one in members if one.kind not in _CALLABLE]
        methods: list[Definition] = []
        if style.needs_impl and not re.search(r"\btrait\b", header.signature):
            methods = [one for one in members if one.kind in _CALLABLE]
            members = [one for one in members if one.kind not in _CALLABLE]
        *decorators, line = self.line(header).split("\n")
        yield from (indent + decorator for decorator in decorators)
        is_whole = line.endswith((";", "}", "...")) or " = " in line
        if not members:
            yield indent + line + ("" if is_whole else self._end_without_members(name))
        else:
            yield from self._block(line, members, chosen, indent)
        if methods:
            yield from self._block(f"impl {header.name}", methods, chosen, indent)

    def _block(
        self, header: str, members: Sequence[Definition], chosen: Sequence[Definition], indent: str
    ) -> Iterator[str]:
        style = self._style
        yield indent + header + style.class_start
        yield from self._lines(members, chosen, indent + style.indent)
        if style.class_end:
            yield indent + style.class_end

    def _end_without_members(self, name: str) -> str:
        has_members = name in self._containers
        return self._style.unshown_members if has_members else self._style.empty_class_end

    def _classes_around(self, definition: Definition) -> list[Definition]:
        if self._style.are_methods_outside and definition.kind in _CALLABLE:
            return []
        parts = definition.container.split(".") if definition.container else []
        names = (".".join(parts[: depth + 1]) for depth in range(len(parts)))
        return [self._headers[name] for name in names if name in self._headers]


def qualified_name(definition: Definition) -> str:
    """Return the name with the names around it, such as ``Session.close``."""
    container = definition.container
    return f"{container}.{definition.name}" if container else definition.name


def _key(definition: Definition) -> tuple[int, str]:
    return definition.start_line, qualified_name(definition)


@lru_cache(maxsize=16_384)
def _written(signature: str, kind: str, style: StubStyle, max_chars: int) -> str:
    decorators, line = "", _COMMENT.sub("", signature)
    if style.are_decorators_lines:
        while match := _DECORATOR.match(line):
            decorators, line = f"{decorators}{match[1]}\n", line[match.end() :]
        line = _SELF.sub("", line) if kind == "field" else line
    if kind in ("class", "module", *_CALLABLE):
        line = line.rstrip(style.trimmed)
    line = _cut(line, max_chars)
    return decorators + line + (style.function_end if kind in _CALLABLE else "")


def _cut(line: str, max_chars: int) -> str:
    """Leave out the last parameters of a long signature; keep what it returns if it is short."""
    if len(line) <= max_chars:
        return line
    close = line.rfind(")")
    tail = line[close:] if close > 0 and len(line) - close <= _MAX_TAIL_CHARS else ""
    room = max(max_chars - len(tail) - 3, 0)
    head = line[:room]
    comma = head.rfind(", ")
    cut = (head[: comma + 2] if comma > room // 2 else head) + "..."
    return cut + (tail or ")" * (cut.count("(") > cut.count(")")))
