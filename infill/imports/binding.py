"""What an import gives to a file, and a name that a file uses without knowing it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

ImportForm: TypeAlias = Literal["plain", "type", "require", "static"]
"""``type``: erased by TypeScript's compiler. ``require``: of CommonJS. ``static``: of Java."""

LANGUAGE_IDS = (
    "python",
    "javascript",
    "javascriptreact",
    "typescript",
    "typescriptreact",
    "go",
    "java",
    "rust",
)
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
