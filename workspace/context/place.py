"""Where context is chosen for: a hole in a file, and what else the user has edited."""

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intarsia.infill.languages import Language, language_for_path
from intarsia.infill.syntax.embedded_code import code_of_language


@dataclass(frozen=True, kw_only=True, slots=True)
class RecentEdit:
    """Lines of an open file that the user edited, as they are now."""

    path: str  # absolute, with forward slashes
    text: str  # of the whole file, as the editor has it
    start_line: int  # 0-based
    end_line: int  # exclusive


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A hole at ``offset`` of a text; the model sees ``text[window_start:window_end]`` anyway."""

    path: str  # absolute, with forward slashes
    text: str
    language: Language
    offset: int
    window_start: int
    window_end: int
    recent_edits: Sequence[RecentEdit] = ()  # newest first, in other files


def in_own_language(place: Place) -> Place:
    """Return a hole of a Markdown document among the document's code in the hole's language.

    Its imports are then found and followed as in a source file. Text is no code: its words would
    ask for passages of other documents.
    """
    code = code_of_language(place.text, place.offset, place.language)
    return replace(place, text=code.text, language=code.language)


def extensions_of(path: str, language: Language) -> tuple[str, ...]:
    """Return how names of files end that code in a file may mean: as the file's own name does.

    Of code in a document, as its language's files do.
    """
    is_embedded = language.extensions and language_for_path(path).id != language.id
    return language.extensions if is_embedded else (posixpath.splitext(path)[1],)
