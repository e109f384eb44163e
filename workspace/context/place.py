"""Where context is chosen for: a hole in a file, and what else the user has edited."""

from collections.abc import Sequence
from dataclasses import dataclass

from intarsia.infill.languages import Language


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
