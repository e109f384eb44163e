"""A case of an evaluation: a hole with known text, independent of how it is filled or judged."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from intarsia.workspace.context.chunk import RecentEdit

CaseKind: TypeAlias = Literal[
    "line",  # a whole line, after its indentation
    "rest_of_line",  # from the edge of a word to the end of the line
    "inside_word",  # from inside a word to the end of the line
    "block",  # the whole body after a header
    "expression",  # one expression inside a line that continues after it
    "arguments",  # all between the brackets of a call
    "random_span",  # from anywhere to anywhere
]


class ProgramRun(NamedTuple):
    """What a program reads from standard input, and the outputs that are accepted for it."""

    input: str
    accepted: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A file with a hole: ``prefix + truth + suffix``, the cursor between prefix and suffix.

    ``id`` is unique in its set and the same in every run, so that runs can be paired hole by hole.
    Cases of one ``group`` (a file, a problem) are not independent of each other. With ``root``,
    the file belongs to a project in that folder, and ``path`` leads to it from there.
    """

    id: str
    set: str
    kind: CaseKind
    language: str  # LSP language id
    path: str  # ends in a file name with the extension of the language
    group: str
    prefix: str
    truth: str
    suffix: str
    test: str | None = None  # Python that, after a correct file, runs without an error
    runs: Sequence["ProgramRun"] = ()  # the file is a whole program, and this is what it must print
    root: Path | None = None
    name: str | None = None  # of another file of the project; the truth begins with it
    recent_edits: Sequence[RecentEdit] = ()  # of the user, in other files, newest first

    @property
    def is_tested(self) -> bool:
        """Whether a filled file can be run to see whether it is right."""
        return self.test is not None or bool(self.runs)

    @property
    def is_range(self) -> bool:
        """Whether it is filled as a selected range, not as the hole at a cursor."""
        return self.kind == "random_span"

    def filled(self, text: str) -> str:
        """Return the file with this text in its hole."""
        return self.prefix + text + self.suffix
