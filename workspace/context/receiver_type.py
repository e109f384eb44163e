"""The type of the expression left of the dot at a hole, where the file itself tells it.

Local rules only: a declared type, a constructor call, ``self`` in a class. They never guess, since
members of a wrong type are worse than none.
"""

import re
from collections.abc import Callable, Sequence

from intarsia.workspace.symbols.symbols import Definition, FileSymbols

MAX_CHARS_ABOVE = 20_000

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


def bare_type(written: str) -> str:
    """Return the name of a written type, "" if it is not one plain name.

    ``Optional[User]``, ``User | None`` and ``&mut User`` are ``User``; ``list[User]`` is none.
    """
    text = written.strip().strip("\"'").lstrip("&*: ").removeprefix("mut ").removeprefix("const ")
    parts = [part.strip() for part in text.rstrip("?!*& ").split("|")]
    parts = [part for part in parts if part not in _NOTHING]
    if len(parts) != 1:
        return ""
    wrapped = _WRAPPERS.fullmatch(parts[0])
    if wrapped:
        return bare_type(wrapped[1].split(",")[0])
    return parts[0] if _NAME.fullmatch(parts[0]) else ""


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


def declared_type(name: str, before: str) -> str:
    """Return the type that the nearest line above declares for a name, "" if none tells.

    A call ``name = make(...)`` gives ``make()``: a class, or a function that returns one.
    """
    word = re.escape(name)
    rules: Sequence[tuple[str, Callable[[re.Match[str]], str]]] = (
        (rf"(?<![\w.]){word}\s*:=\s*{_CALLED}", _constructed),
        (rf"(?<![\w.]){word}\s*\??\s*:\s*{_TYPE}", _written),
        (rf"(?<![\w.]){word}\s*=\s*{_CALLED}", _constructed),
        (rf"\bwith\s+{_CALLED}[^\n]*\bas\s+{word}\b", _constructed),
        (rf"\b(?P<type>[A-Z]\w*(?:<[^<>\n]*>)?[&*]*)\s+[&*]*{word}\s*[=;,){{]", _written),
        (rf"(?<![\w.]){word}\s+(?P<type>[&*]*[^\W\d][\w.]*)\s*[,)=\n]", _written),
    )
    text = before[-MAX_CHARS_ABOVE:]
    best, at = "", -1
    for pattern, read in rules:
        for match in re.finditer(pattern, text):
            found = read(match)
            if found and match.start() > at:
                best, at = found, match.start()
    return best


def _written(match: re.Match[str]) -> str:
    return bare_type(match["type"])


def _constructed(match: re.Match[str]) -> str:
    name = match["call"]
    return name.removesuffix("::new") if name.endswith("::new") else f"{name}()"
