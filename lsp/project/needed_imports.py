"""Which imports inserted code needs, as the index of the opened folder tells.

Needs the infill package's grammars, so the server imports it on first use.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, replace

from lsprotocol import types

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import ImportBinding, shown
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import Language
from intarsia.lsp.documents import Document, Snapshot
from intarsia.lsp.ghost_text import GhostText
from intarsia.lsp.project.index_connection import IndexConnection
from intarsia.lsp.protocol_extensions import IMPORTS_COMMAND

logger = logging.getLogger(__name__)

MAX_NAMES = 12
MAX_CHARS = 200_000
"""A longer file gets no imports: its names would take too long to look up."""


async def needed_imports(
    index: IndexConnection,
    document: Document,
    language: Language,
    text: str,
    inserted: Sequence[tuple[int, int]],
) -> tuple[ImportBinding, ...] | None:
    """Return the imports that the inserted ranges of a text need; None without an answer in time.

    Code in a notebook gets none: a cell is no place for a file's imports.
    """
    path = document.disk_path
    is_usual = language.imports is not None and document.notebook_uri is None
    if path is None or not is_usual or len(text) > MAX_CHARS:
        return ()
    names = {
        name.name: name
        for start, end in inserted
        for name in unbound_names(text, start, end, language)
    }
    if not names or index.root_of(path) is None:
        return ()
    asked = tuple(names.values())[:MAX_NAMES]
    found = await index.find_imports(path, text, language.id, asked)
    if found is None:
        return None
    for one in found:
        if one.reason:
            logger.debug("no import for %s: %s", one.name, one.reason)
    bindings = (one.binding for one in found)
    return tuple(
        it
        for it in bindings
        if it is not None and import_edits(text, [it], inserted[0][0], language)
    )


async def with_imports(
    index: IndexConnection, snapshot: Snapshot, ghosts: tuple[GhostText, ...]
) -> tuple[GhostText, ...]:
    """Return the suggestions with their imports; without where the index does not answer soon."""
    if not (snapshot.settings.add_imports and index.has_folders):
        return ghosts
    text, offset = snapshot.text, snapshot.offset
    document, language = snapshot.document, snapshot.language
    found = []
    for ghost in ghosts:
        imports = ghost.imports
        if imports is None:
            whole = text[:offset] + ghost.text + text[offset:]
            inserted = [(offset, offset + len(ghost.text))]
            imports = await needed_imports(index, document, language, whole, inserted)
        found.append(replace(ghost, imports=imports))
    return tuple(found)


def imports_command(
    snapshot: Snapshot, ghost: GhostText, *, can_apply: bool
) -> types.Command | None:
    """Return the command that adds a suggestion's imports once it is accepted.

    None where it needs none, or where the client applies no edits of a server.
    """
    if not ghost.imports or not can_apply:
        return None
    place = snapshot.range_at_cursor().start
    argument = {
        "textDocument": {"uri": snapshot.document.uri},
        "position": {"line": place.line, "character": place.character},
        "imports": [asdict(it) for it in ghost.imports],
        "apply": True,
    }
    title = f"Add {'; '.join(shown_imports(snapshot, ghost))}"
    return types.Command(title=title, command=IMPORTS_COMMAND, arguments=[argument])


def shown_imports(snapshot: Snapshot, ghost: GhostText) -> tuple[str, ...]:
    """Return the imports of a suggestion as statements, for the user to see."""
    return tuple(shown(it, snapshot.language) for it in ghost.imports or ())
