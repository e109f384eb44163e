"""How JavaScript and TypeScript name modules: by a relative path, an alias, or a package."""

import posixpath
from collections.abc import Sequence

from intarsia.workspace.imports.module_names import ModuleNames, Written
from intarsia.workspace.symbols.symbols import Import

_ENDINGS = (".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_COMPILED = {".ts": ".js", ".tsx": ".js", ".mts": ".mjs", ".cts": ".cjs"}
_WRITTEN_ENDINGS = (*_ENDINGS, ".vue", ".svelte", ".json")
_INDEX = "/index"


class EcmascriptNames(ModuleNames):
    """A place in the project is the path of a file."""

    def place_of(self, written: Written, name: str) -> str | None:
        found = self._resolve(written.module, written.path)
        if found:
            return found[0]
        return None if written.module.startswith((".", "/")) else written.module

    def written_for(self, place: str, others: Sequence[Written], name: str) -> str | None:
        if place == self.around.path:
            return None
        if not place.startswith("/") and ":/" not in place[:4]:
            return others[0].module if others else place
        aliases = [it.module for it in others if not it.module.startswith(".")]
        relatives = [it for it in others if it.module.startswith(".")]
        is_aliased = bool(aliases) and (not relatives or self._uses_alias(aliases[0]))
        if is_aliased and place in self._resolve(aliases[0], self.around.path):
            return aliases[0]
        written = self._relative(place, relatives)
        return written if place in self._resolve(written, self.around.path) else None

    def _uses_alias(self, alias: str) -> bool:
        """Whether the file itself imports by this alias or package."""
        start = alias.split("/", maxsplit=1)[0]
        return any(it.module.split("/")[0] == start for it in self.around.imports)

    def _resolve(self, module: str, path: str) -> tuple[str, ...]:
        return self.around.resolve(Import(module=module, line=0), path)

    def _relative(self, place: str, others: Sequence[Written]) -> str:
        """Return the relative path, with an ending or without one as in the project's files."""
        inside = posixpath.relpath(place, posixpath.dirname(self.around.path))
        ending = next((it for it in _WRITTEN_ENDINGS if inside.endswith(it)), "")
        stem = inside.removesuffix(ending)
        own = [it.module for it in self.around.imports if it.module.startswith(".")]
        sample = own[-1] if own else others[0].module if others else ""
        kept = next((it for it in _WRITTEN_ENDINGS if sample.endswith(it)), "")
        if ending not in _ENDINGS:
            stem += ending
        elif kept:
            stem += _COMPILED.get(ending, ending) if kept not in (".ts", ".tsx") else ending
        elif stem.endswith(_INDEX) and not any(it.module.endswith(_INDEX) for it in others):
            stem = stem.removesuffix(_INDEX)
        elif stem == "index":
            stem = "."
        return stem if stem.startswith(".") else f"./{stem}"
