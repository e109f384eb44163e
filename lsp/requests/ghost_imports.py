"""Gives suggestions the imports that they need: found after a fill has passed, and kept with it."""

from dataclasses import asdict, replace

from lsprotocol import types

from intarsia.lsp.documents.snapshot import Snapshot
from intarsia.lsp.project.index_connection import IndexConnection
from intarsia.lsp.protocol_extensions import IMPORTS_COMMAND
from intarsia.lsp.session import Session
from intarsia.lsp.suggestions.ghost_text import GhostText


async def with_imports(
    session: Session, snapshot: Snapshot, ghosts: tuple[GhostText, ...]
) -> tuple[GhostText, ...]:
    """Return the suggestions with their imports; without where the index does not answer soon."""
    from intarsia.lsp.project.needed_imports import needed_imports

    if not snapshot.settings.add_imports:
        return ghosts
    text, offset = snapshot.text, snapshot.offset
    language = snapshot.language
    found = []
    for ghost in ghosts:
        imports = ghost.imports
        if imports is None:
            whole = text[:offset] + ghost.text + text[offset:]
            inserted = [(offset, offset + len(ghost.text))]
            imports = await needed_imports(
                session.feature(IndexConnection), snapshot.document, language, whole, inserted
            )
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
    from intarsia.infill.imports.binding import shown

    language = snapshot.language
    return tuple(shown(it, language.id) for it in ghost.imports or ())


def import_text_edits(snapshot: Snapshot, ghost: GhostText) -> list[types.TextEdit]:
    """Return the edits of the snapshot's document that import what a suggestion needs."""
    from intarsia.infill.imports.add_imports import import_edits
    from intarsia.lsp.edits.workspace_edit import text_edit

    document, at = snapshot.document, snapshot.place
    edits = import_edits(document.text, ghost.imports or (), at, document.language)
    return [text_edit(document, it) for it in edits]
