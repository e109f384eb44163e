"""Tells whether an import is made of plain names: a project's files are data, never code to copy.

What another file has between quotes is text of any kind. An import line is written of modules,
names and aliases that pass here: none of them can end its string or its statement.
"""

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass

from intarsia.infill.imports.binding import DEFAULT, ImportBinding
from intarsia.infill.languages import ECMASCRIPT_IDS
from intarsia.infill.syntax.lines import first_hidden
from intarsia.infill.syntax.name_rules import words

MAX_CHARS = 200
"""A longer module or name gets no import."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Rules:
    """What one language allows. A module that ``is_path`` is made of identifiers."""

    module: re.Pattern[str]
    reserved: frozenset[str]
    is_path: bool
    needs_name: bool = False  # of something in the module
    marks: str = ""  # in identifiers, besides letters, digits and _


_PYTHON = _Rules(
    module=re.compile(r"\.+|\.*\w+(?:\.\w+)*"), reserved=frozenset(keyword.kwlist), is_path=True
)
_ECMASCRIPT = _Rules(
    module=re.compile(r"[@\w.~#$:/+-]+"),
    reserved=words(
        "await break case catch class const continue debugger default delete do else enum export"
        " extends false finally for function if implements import in instanceof interface let new"
        " null package private protected public return static super switch this throw true try"
        " typeof var void while with yield arguments eval"
    ),
    is_path=False,
    marks="$",
)
_GO = _Rules(
    module=re.compile(r"[A-Za-z0-9_.~/+-]+"),
    reserved=words(
        "break case chan const continue default defer else fallthrough for func go goto if import"
        " interface map package range return select struct switch type var"
    ),
    is_path=False,
)
_JAVA = _Rules(
    module=re.compile(r"[\w$]+(?:\.[\w$]+)*"),
    reserved=words(
        "_ abstract assert boolean break byte case catch char class const continue default do"
        " double else enum extends false final finally float for goto if implements import"
        " instanceof int interface long native new null package private protected public return"
        " short static strictfp super switch synchronized this throw throws transient true try"
        " void volatile while"
    ),
    is_path=True,
    needs_name=True,
    marks="$",
)
_RUST = _Rules(
    module=re.compile(r"(?:::)?(?:r#)?\w+(?:::(?:r#)?\w+)*"),
    reserved=words(
        "_ abstract as async await become box break const continue crate do dyn else enum extern"
        " false final fn for gen if impl in let loop macro match mod move mut override priv pub ref"
        " return self Self static struct super trait true try type typeof unsafe unsized use"
        " virtual where while yield"
    ),
    is_path=True,
    needs_name=True,
)
_RULES: Mapping[str, _Rules] = {
    "python": _PYTHON,
    **dict.fromkeys(ECMASCRIPT_IDS, _ECMASCRIPT),
    "go": _GO,
    "java": _JAVA,
    "rust": _RUST,
}
_PARTS = re.compile(r"\.+|::")
_PATH_WORDS = ("crate", "self", "super")  # of Rust: modules, though they are reserved


def is_plain(binding: ImportBinding, language_id: str) -> bool:
    """Whether module, name and alias are names of the language, short and visible throughout."""
    rules = _RULES.get(language_id)
    module, name, local = binding.module, binding.name, binding.local
    if rules is None or not rules.module.fullmatch(module) or not _is_path(module, rules):
        return False
    if any(len(it) > MAX_CHARS or first_hidden(it) is not None for it in (module, name, local)):
        return False
    if not name:
        is_whole = rules is _PYTHON and local == module and module[0] != "."  # import a.b
        return not rules.needs_name and (is_whole or _is_identifier(local, rules))
    is_main = rules is _ECMASCRIPT and name == DEFAULT
    return (is_main or _is_identifier(name, rules)) and _is_identifier(local, rules)


def _is_path(module: str, rules: _Rules) -> bool:
    words = _PATH_WORDS if rules is _RUST else ()
    parts = _PARTS.split(module) if rules.is_path else ()
    return all(part in words or _is_identifier(part, rules) for part in parts if part)


def _is_identifier(word: str, rules: _Rules) -> bool:
    if rules is _RUST and word.startswith("r#"):
        plain = word.removeprefix("r#")
        return plain.isidentifier() and plain not in (*_PATH_WORDS, "Self", "_")
    if word in rules.reserved:
        return False
    return word.translate(dict.fromkeys(map(ord, rules.marks), "_")).isidentifier()
