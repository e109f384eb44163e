"""Where JavaScript and TypeScript find a module: a file, a path of tsconfig.json, or a package."""

import posixpath
from collections.abc import Iterator, Sequence

from intarsia.workspace.modules.files import Files
from intarsia.workspace.modules.node_packages import package_candidates
from intarsia.workspace.modules.tsconfig import mapped_paths
from intarsia.workspace.symbols.symbols import Import

_ENDINGS = (
    *(".ts", ".tsx", ".d.ts", ".mts", ".cts"),
    *(".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"),
)
_SOURCES = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
"""An import names what the compiler writes; the source has another ending."""

_ALIASES = ("@/", "~/")
"""The usual names of the source folder, which bundlers know and tsconfig.json may not."""


def ecmascript_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the module's file. Packages that are not in the workspace have none."""
    for base in _bases(imported.module.partition("?")[0], path, files):
        found = files.first(_candidates(base))
        if found:
            return found
    return ()


def _bases(module: str, path: str, files: Files) -> Iterator[str]:
    if module.startswith((".", "/")):
        folder = posixpath.dirname(path) if module.startswith(".") else ""
        yield posixpath.join(folder, module)
        return
    yield from mapped_paths(module, path, files)
    yield from package_candidates(module, path, files)
    for alias in _ALIASES:
        if module.startswith(alias):
            for folder in files.folders_above(path):
                yield f"{folder}/src/{module.removeprefix(alias)}"
                yield f"{folder}/{module.removeprefix(alias)}"


def _candidates(base: str) -> Sequence[str]:
    stem, ending = posixpath.splitext(base)
    sources = [stem + source for source in _SOURCES.get(ending, ())]
    indexes = [f"{base}/index{one}" for one in _ENDINGS]
    return [base, *sources, *(base + one for one in _ENDINGS), *indexes]
