"""A hole whose text is known. Knows nothing of how it is filled or judged."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

CaseKind: TypeAlias = Literal[
    "line",  # a whole line, behind its indentation
    "rest_of_line",  # from a word's edge to the line's end
    "inside_word",  # from inside a word to the line's end
    "block",  # the whole body of a header
    "expression",  # one expression inside a line; what follows it stands
    "arguments",  # all between the brackets of a call
    "random_span",  # from anywhere to anywhere
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """``prefix + truth + suffix`` is a good file; the cursor stands between prefix and suffix.

    ``id`` is unique in its set and the same in every run, so that runs can be paired hole by hole.
    Cases of one ``group`` (a file, a problem) are not independent of each other.
    """

    id: str
    set: str
    kind: CaseKind
    language: str  # LSP language id
    path: str  # a file name with the language's ending, as an editor would show it
    group: str
    prefix: str
    truth: str
    suffix: str
    test: str | None = None  # Python that runs without an error behind a right file

    @property
    def is_range(self) -> bool:
        """Whether it is asked for as a range that the user names: no cursor's rule ends it."""
        return self.kind == "random_span"

    def filled(self, text: str) -> str:
        """Return the file with this text in its hole."""
        return self.prefix + text + self.suffix
