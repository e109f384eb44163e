"""How one language names a project's modules: what a written one means, and how to write it.

A *place* is what two imports of the same module have in common: a path without its ending for a
file of the project, else the module's own name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from intarsia.workspace.modules.files import Files
from intarsia.workspace.symbols.symbols import Import


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """The file that gets an import, and the files of the project."""

    path: str
    imports: Sequence[Import]  # that it has
    files: Files


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """One way in which a file of the project writes a module."""

    path: str
    module: str


class ModuleNames(Protocol):
    """The rules of one language."""

    def place_of(self, written: Written, name: str) -> str | None:
        """Return the place of a module that has this name, None where it cannot be told."""
        ...

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        """Return the module as the file would write it, None where it must not import it.

        ``others``: how other files write it, the most frequent way first; perhaps none.
        """
        ...
