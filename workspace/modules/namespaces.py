"""Where Java, Kotlin, Scala and C# have a package's classes: in folders that bear its name."""

from collections.abc import Iterator

from intarsia.workspace.modules.files import Files
from intarsia.workspace.symbols.symbols import Import

_JAVA_FOLDERS = ("src/main/java", "src/test/java", "src/main/kotlin", "src/main/scala")
_FLAT_FOLDERS = ("src", "java", "kotlin", "app/src")
_JAVA_ENDINGS = (".java", ".kt", ".scala", ".groovy")


def java_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the files of the imported classes, or all of the package for ``*``."""
    package = imported.module.replace(".", "/")
    found: tuple[str, ...] = ()
    for base in _java_bases(path, files):
        for one in imported.names:
            if one.name == "*":
                found += files.with_suffix(f"{base}/{package}", *_JAVA_ENDINGS)
            else:
                found += files.first(f"{base}/{package}/{one.name}{end}" for end in _JAVA_ENDINGS)
        if not found:  # a member of a class, or a class in another
            outer = [package, package.rpartition("/")[0]]
            found = files.first(f"{base}/{one}{end}" for one in outer for end in _JAVA_ENDINGS)
        if found:
            return found
    return ()


def csharp_files(imported: Import, path: str, files: Files) -> tuple[str, ...]:
    """Return the files of the folder that a namespace names, or the end of it.

    The compiler does not ask for such folders; nearly all projects have them.
    """
    parts = imported.module.split(".")
    tails = ["/".join(parts[start:]) for start in range(len(parts))]
    dotted = ["/".join((".".join(parts[:num]), *parts[num:])) for num in range(len(parts), 1, -1)]
    for folder in files.folders_above(path):
        for tail in (*dotted, *tails):
            for base in (folder, f"{folder}/src"):
                found = files.with_suffix(f"{base}/{tail}", ".cs")
                if found:
                    return found
    return ()


def _java_bases(path: str, files: Files) -> Iterator[str]:
    above = list(files.folders_above(path))
    yield from above
    for folder in above:
        for name in (*_JAVA_FOLDERS, *_FLAT_FOLDERS):
            yield f"{folder}/{name}"
