"""The type of the expression left of the dot at a hole, where the file itself tells it.

Local rules only: a declared type, a constructor call, ``self`` in a class. They never guess, since
members of a wrong type are worse than none.
"""

import re
from collections.abc import Mapping, Sequence

from intarsia.infill.languages import Language
from intarsia.workspace.symbols.symbols import Definition, FileSymbols

MAX_CHARS_ABOVE = 20_000
MAX_TYPE_CHARS = 200
MAX_WRAPPERS = 4

_SELF = frozenset({"self", "this", "cls", "Self", "super", "super()", "base"})
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
_TYPE_AFTER = (
    _ASSIGNED,
    rf"(?<![\w.])NAME\s*\??\s*:\s*{_TYPE}",
    rf"\bwith\s+{_CALLED}[^\n]*\bas\s+NAME\b",
)
_TYPE_BEFORE = (
    _ASSIGNED,
    r"\b(?P<type>[A-Z]\w*(?:<[^<>\n]*>)?[&*?]*)\s+[&*$]*NAME\s*[=;,)]",
)
_GO = (
    rf"(?<![\w.])NAME\s*:=\s*{_CALLED}",
    r"(?<![\w.])NAME\s+(?P<type>[&*]*[^\W\d][\w.]*)\s*[,)=\n]",
)
_PATTERNS: Mapping[str, Sequence[str]] = {
    "go": _GO,
    **dict.fromkeys(("java", "c", "cpp", "csharp", "dart", "php"), _TYPE_BEFORE),
}
"""Where a type is written: before the name, after it, or after a colon."""


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
    """Return the innermost class around a line."""
    around = (
        one
        for one in symbols.definitions
        if one.kind in ("class", "type") and one.start_line <= line < one.end_line
    )
    return max(around, key=lambda one: one.start_line, default=None)


def is_self(name: str) -> bool:
    """Whether a name means the object that a method belongs to."""
    return name in _SELF


def declared_type(name: str, before: str, language: Language) -> str:
    """Return the type that the nearest line above declares for a name, "" if none tells.

    A call ``name = make(...)`` gives ``make()``: a class, or a function that returns one.
    """
    text = before[-MAX_CHARS_ABOVE:]
    best, at = "", -1
    for pattern in _PATTERNS.get(language.id, _TYPE_AFTER):
        for match in re.finditer(pattern.replace("NAME", re.escape(name)), text):
            groups = match.groupdict()
            called = groups.get("call")
            found = _constructed(called) if called else bare_type(groups.get("type") or "")
            if found and match.start() > at:
                best, at = found, match.start()
    return best


def _constructed(name: str) -> str:
    return name.removesuffix("::new") if name.endswith("::new") else f"{name}()"
