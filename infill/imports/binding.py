"""What an import gives to a file, as values and as shown, and a name that a file needs one for."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from intarsia.infill.languages import ECMASCRIPT_IDS

ImportForm: TypeAlias = Literal["plain", "type", "require", "static"]
"""``type``: erased by TypeScript's compiler. ``require``: of CommonJS. ``static``: of Java."""

LANGUAGE_IDS = ("python", *ECMASCRIPT_IDS, "go", "java", "rust")
"""The languages that imports can be added in."""

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


def shown(binding: ImportBinding, language_id: str) -> str:
    """Return the import as a statement of its language, without the punctuation of its file."""
    module, name, local = binding.module, binding.name, binding.local
    if language_id == "python":
        renamed = f"{name or module} as {local}" if local != (name or module) else name or module
        return f"from {module} import {renamed}" if name else f"import {renamed}"
    if language_id == "go":
        return f'import "{module}"'
    if language_id == "java":
        return f"import {'static ' if binding.form == 'static' else ''}{module}.{name}"
    if language_id == "rust":
        return f"use {module}::{name}" + (f" as {local}" if local != name else "")
    if name == DEFAULT or not name:
        return f'import {local} from "{module}"'
    return f'import {{ {name} }} from "{module}"'
