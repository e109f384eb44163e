"""How Python names modules: relative to the package, or from a folder that is searched."""

import posixpath
from collections.abc import Sequence

from intarsia.workspace.imports.module_names import ModuleNames, Written
from intarsia.workspace.symbols.symbols import Import, ImportedName

_ENDINGS = ("/__init__.pyi", "/__init__.py", ".pyi", ".py")


class PythonNames(ModuleNames):
    """A place in the project is the path of a package or a module."""

    def place_of(self, written: Written, name: str) -> str | None:
        module = written.module
        rest = module.lstrip(".")
        num_dots = len(module) - len(rest)
        if num_dots:
            folder = posixpath.dirname(written.path)
            for _ in range(num_dots - 1):
                folder = posixpath.dirname(folder)
            return posixpath.join(folder, *rest.split(".")) if rest else folder
        names = (ImportedName(name=name, local=name),) if name else ()
        found = self.around.resolve(Import(module=module, names=names, line=0), written.path)
        if not found:
            return module
        place = _without_ending(found[0])
        tail = "/" + module.replace(".", "/")
        if not place.endswith(tail) and place.endswith(f"{tail}/{name}"):
            place = posixpath.dirname(place)  # a package without __init__.py
        return place

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        if "/" not in place:
            return place
        own = _without_ending(self.around.path)
        if own == place:
            return None
        relative = self._relative(place)
        absolute = next((it.module for it in others if not it.module.startswith(".")), None)
        absolute = absolute or self._absolute(place)
        if relative is not None and self._prefers_relative(others):
            return relative
        return absolute or relative

    def _prefers_relative(self, others: Sequence[Written]) -> bool:
        """Whether the file imports its package so; else whether most other files do."""
        own = [it.module for it in self.around.imports]
        if any(module.startswith(".") for module in own):
            return True
        package = self._packages_of(posixpath.dirname(self.around.path))
        if package and any(module.split(".")[0] == package[0] for module in own):
            return False
        return bool(others) and others[0].module.startswith(".")

    def _packages_of(self, folder: str) -> list[str]:
        """Return the names of the packages that a folder is in, the outermost first."""
        parts: list[str] = []
        while self._is_package(folder):
            parts.insert(0, posixpath.basename(folder))
            folder = posixpath.dirname(folder)
        return parts

    def _is_package(self, folder: str) -> bool:
        exists = self.around.files.exists
        return exists(f"{folder}/__init__.py") or exists(f"{folder}/__init__.pyi")

    def _relative(self, place: str) -> str | None:
        folder = posixpath.dirname(self.around.path)
        dots = "."
        while place != folder and not place.startswith(folder + "/"):
            if not self._is_package(folder):
                return None
            folder = posixpath.dirname(folder)
            dots += "."
        if not self._is_package(folder):
            return None
        return dots + place[len(folder) + 1 :].replace("/", ".")

    def _absolute(self, place: str) -> str | None:
        """Return the module's name from the folder around its outermost package."""
        if self._is_package(place):
            parts = self._packages_of(place)
        else:
            parts = [*self._packages_of(posixpath.dirname(place)), posixpath.basename(place)]
        return ".".join(parts) if all(part.isidentifier() for part in parts) else None


def _without_ending(path: str) -> str:
    for ending in _ENDINGS:
        if path.endswith(ending):
            return path.removesuffix(ending)
    return path
