"""The names that an import gives to a file, and a name that a file needs an import for.

A project's files are data, never code to copy: what another file has between quotes is text of any
kind. An import line is written of modules, names and aliases that are plain: none of them can end
its string or its statement.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia.infill.languages import ImportRules, Language
from intarsia.infill.syntax.text import first_hidden

ImportForm: TypeAlias = Literal["plain", "type", "require", "static"]
"""``type``: erased by TypeScript's compiler. ``require``: of CommonJS. ``static``: of Java."""

MAX_CHARS = 200
"""A longer module or name gets no import."""

DEFAULT = "default"
"""The ``name`` of a JavaScript module's main export."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportBinding:
    """One name that one import gives to a file.

    ``name`` is the name in the module, "" for the module itself. ``local`` is the name in the file;
    Python's ``import a.b`` has the local name ``a.b``.
    """

    module: str  # as the import line has it, without quotes
    name: str
    local: str
    form: ImportForm = "plain"


@dataclass(frozen=True, kw_only=True, slots=True)
class UnboundName:
    """A name that inserted code uses and the file does not define or import.

    ``path`` is how it is used: ``("os", "path", "join")`` for ``os.path.join``.
    """

    name: str
    path: tuple[str, ...]
    is_type: bool  # only used where TypeScript has types
    offset: int  # of its first use in the text


@dataclass(frozen=True, kw_only=True, slots=True)
class NeededImport:
    """``binding`` is None where no import is sure; then ``reason`` says why."""

    name: str
    binding: ImportBinding | None = None
    reason: str = ""


_VERSION = re.compile(r"/v\d+$|\.v\d+$")
_LANGUAGE = re.compile(r"^go[-_.]|[-_.]go$")


def package_name(path: str) -> str:
    """Return the last part of a path, without a version or the language: ``chi``, ``hclog``.

    So for ``github.com/go-chi/chi/v5`` and ``github.com/hashicorp/go-hclog``.
    """
    last = _VERSION.sub("", path).rpartition("/")[2]
    return last if last.isidentifier() else _LANGUAGE.sub("", last)


def shown(binding: ImportBinding, language: Language) -> str:
    """Return the import as a statement of its language, without the punctuation of its file."""
    module, name, local = binding.module, binding.name, binding.local
    match language.imports and language.imports.style:
        case "from":
            renamed = (
                f"{name or module} as {local}" if local != (name or module) else name or module
            )
            return f"from {module} import {renamed}" if name else f"import {renamed}"
        case "quoted":
            return f'import "{module}"'
        case "dotted":
            return f"import {'static ' if binding.form == 'static' else ''}{module}.{name}"
        case "use":
            return f"use {module}::{name}" + (f" as {local}" if local != name else "")
    if name == DEFAULT or not name:
        return f'import {local} from "{module}"'
    return f'import {{ {name} }} from "{module}"'


_PARTS = re.compile(r"\.+|::")
_PATH_WORDS = ("crate", "self", "super")  # of Rust: modules, though they are reserved


def is_plain(binding: ImportBinding, language: Language) -> bool:
    """Whether module, name and alias are names of the language, short and visible throughout."""
    rules, marks = language.imports, language.name_marks
    module, name, local = binding.module, binding.name, binding.local
    if (
        rules is None
        or not re.fullmatch(rules.module, module)
        or not _is_path(module, rules, marks)
    ):
        return False
    if any(len(it) > MAX_CHARS or first_hidden(it) is not None for it in (module, name, local)):
        return False
    if not name:
        is_whole = rules.style == "from" and local == module and module[0] != "."  # import a.b
        return not rules.needs_name and (is_whole or _is_identifier(local, rules, marks))
    is_main = rules.style == "braces" and name == DEFAULT
    return (is_main or _is_identifier(name, rules, marks)) and _is_identifier(local, rules, marks)


def _is_path(module: str, rules: ImportRules, marks: str) -> bool:
    words = _PATH_WORDS if rules.style == "use" else ()
    parts = _PARTS.split(module) if rules.is_path else ()
    return all(part in words or _is_identifier(part, rules, marks) for part in parts if part)


def _is_identifier(word: str, rules: ImportRules, marks: str) -> bool:
    if rules.style == "use" and word.startswith("r#"):
        plain = word.removeprefix("r#")
        return plain.isidentifier() and plain not in (*_PATH_WORDS, "Self", "_")
    if word in rules.reserved:
        return False
    return word.translate(dict.fromkeys(map(ord, marks), "_")).isidentifier()
