"""Draws what a file defines and imports as one line each, to compare with what is expected."""

from pathlib import PurePosixPath

from real_files import REAL_FILES

from intarsia.infill.languages import language_for_path
from intarsia.workspace.symbols.extract import extract_symbols
from intarsia.workspace.symbols.symbols import FileSymbols


def symbols_of(path: str) -> FileSymbols:
    """Return what a real file defines and imports."""
    return extract_symbols(REAL_FILES[PurePosixPath(path)], language_for_path(path))


def draw_definitions(symbols: FileSymbols) -> list[str]:
    """Draw each definition: its lines, kind, container, signature, and type after a colon."""
    return [
        f"{one.start_line}-{one.end_line} {one.kind} {one.container or '-'} {one.signature}"
        + (f" : {one.type_name}" if one.type_name else "")
        for one in symbols.definitions
    ]


def draw_imports(symbols: FileSymbols) -> list[str]:
    """Draw each import: its line, module, local name, and names."""
    drawn = []
    for one in symbols.imports:
        names = ", ".join(
            name.name if name.name == name.local else f"{name.name} as {name.local}"
            for name in one.names
        )
        local = f" as {one.local}" if one.local else ""
        drawn.append(f"{one.line} {one.module}{local}{': ' + names if names else ''}")
    return drawn
