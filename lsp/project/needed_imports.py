"""Which imports inserted code needs, as the index of the opened folder tells.

Needs the infill package's grammars, so the server imports it on first use.
"""

import logging
from collections.abc import Sequence

from intarsia.infill.imports.add_imports import import_edits
from intarsia.infill.imports.binding import LANGUAGE_IDS, ImportBinding
from intarsia.infill.imports.unbound import unbound_names
from intarsia.infill.languages import Language
from intarsia.lsp.documents.documents import Document
from intarsia.lsp.project.index_connection import IndexConnection

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
    is_usual = language.id in LANGUAGE_IDS and document.notebook_uri is None
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
