"""A file before a commit, and what the commit changed in it: an edit and the edits that follow.

Sets of them are gzipped files with one JSON object a line.

Lines end with LF alone, and are counted from 0.
"""

import gzip
import random
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from intarsia_research.errors import EvaluationFault

EditKind: TypeAlias = Literal[
    "rename",  # the first edit replaces a name by another, and so does a later one
    "import",  # one edit has only imports
    "added",  # lines are only added, or mostly
    "removed",  # lines are only removed
    "signature",  # the head of a function is changed
    "type",  # types, references or generics are changed
    "same",  # one substitution at several places
    "other",
    "control",  # a single edit: nothing else of the file was changed
]
CONTROL: EditKind = "control"


class CommitHunk(msgspec.Struct, frozen=True, kw_only=True):
    """Whole lines that a commit replaced: ``start`` to ``end`` (excluded) of the text before it.

    If they are equal, lines were inserted before ``start``. ``follows``: this hunk changes a name
    that the first one changes, or makes the same substitution, or is linked to it by such hunks.
    """

    start: int
    end: int
    old_text: str
    new_text: str
    follows: bool = True


class EditCase(msgspec.Struct, frozen=True, kw_only=True):
    """One file of one commit. ``hunks[0]`` is read as the user's edit, the others as the truth.

    ``before`` is the file before the commit, cut to the lines around the hunks. Raises ValueError
    if the hunks do not fit it.
    """

    id: str
    repo: str  # owner/name
    commit: str
    path: str
    date: str  # of the commit, ISO 8601
    subject: str
    language: str  # LSP language id
    licence: str
    kind: EditKind
    first_line: int  # of ``before``, in the file
    file_lines: int
    files_in_commit: int  # of code
    before: str
    hunks: tuple[CommitHunk, ...]

    def __post_init__(self) -> None:
        reason = _fault(self)
        if reason is not None:
            raise ValueError(reason)

    @property
    def is_control(self) -> bool:
        """Whether nothing else was changed: whatever is offered after the edit is wrong."""
        return self.kind == CONTROL


def lines_of(text: str) -> list[str]:
    """Return a text's lines with their LF. Joined, they are the text."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def with_hunks(text: str, hunks: Iterable[CommitHunk]) -> str:
    """Return the text with these hunks put in, which are in the order of its lines."""
    lines = lines_of(text)
    for hunk in reversed([*hunks]):
        lines[hunk.start : hunk.end] = [hunk.new_text]
    return "".join(lines)


def read_edit_set(file: Path) -> list[EditCase]:
    """Return the cases of a set, in order.

    Raise EvaluationFault if it cannot be read, has a damaged row or two cases of one id, or is
    empty.
    """
    decoder = msgspec.json.Decoder(EditCase)
    cases: dict[str, EditCase] = {}
    try:
        with gzip.open(file, "rb") as rows:
            for number, row in enumerate(rows, start=1):
                try:
                    case = decoder.decode(row)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise EvaluationFault(
                        f"line {number} of {file} is no edit case ({error}): take the file again "
                        "from where it comes from"
                    ) from error
                if case.id in cases:
                    raise EvaluationFault(f"{file} has two cases {case.id!r}: remove one")
                cases[case.id] = case
    except (OSError, EOFError, zlib.error) as error:
        raise EvaluationFault(
            f"{file} is no set of edits ({error}): give a .jsonl.gz file"
        ) from error
    if not cases:
        raise EvaluationFault(f"{file} has no case: give another set of edits")
    return [*cases.values()]


def _fault(case: EditCase) -> str | None:
    """Return what is wrong with the case, None if nothing is."""
    if not case.hunks or (case.is_control and len(case.hunks) > 1):
        return f"it has {len(case.hunks)} hunks: an edit has one or more, a control has one"
    if "\r" in case.before or not case.before.endswith("\n"):
        return "the text must have whole lines that end with LF"
    return next(_hunk_faults(lines_of(case.before), case.hunks), None)


def _hunk_faults(lines: Sequence[str], hunks: Sequence[CommitHunk]) -> Iterator[str]:
    ends = [0, *(hunk.end for hunk in hunks)]
    for number, (hunk, earliest) in enumerate(zip(hunks, ends, strict=False)):
        if not earliest <= hunk.start <= hunk.end <= len(lines):
            yield f"hunk {number} is outside of the text, or overlaps the hunk above it"
        elif "".join(lines[hunk.start : hunk.end]) != hunk.old_text:
            yield f"the text does not have the old lines of hunk {number}"
        elif hunk.new_text and not hunk.new_text.endswith("\n"):
            yield f"the new lines of hunk {number} do not end with LF"


def choose_cases(
    cases: Sequence[EditCase],
    *,
    repositories: Sequence[str] = (),
    languages: Collection[str] = (),
    limit: int | None = None,
    seed: int = 0,
) -> list[EditCase]:
    """Return the chosen cases in the order of the set; empty sequences choose all.

    The seed draws which are left out if there are more than ``limit``. Raise EvaluationFault if
    none is left.
    """
    known = {case.repo.lower() for case in cases}
    for repo in repositories:
        if repo.lower() not in known:
            raise EvaluationFault(
                f"no case of {repo} in this set: it has {', '.join(sorted(known))}"
            )
    wanted = {repo.lower() for repo in repositories}
    chosen = [
        case
        for case in cases
        if (not wanted or case.repo.lower() in wanted)
        and (not languages or case.language in languages)
    ]
    if not chosen:
        raise EvaluationFault("no case of these languages in this set: choose others")
    if limit is None or limit >= len(chosen):
        return chosen
    drawn = random.Random(seed).sample(range(len(chosen)), limit)
    return [chosen[index] for index in sorted(drawn)]
