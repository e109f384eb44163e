"""Reads what each commit changed in each file, as hunks of whole lines, from ``git log -p``."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from intarsia_research.edits.edit_case import CommitHunk

_COMMIT_MARK = "\x01"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChange:
    """What a commit with one parent did to a file. ``num_files``: of code, that it changed."""

    commit: str
    date: str  # ISO 8601
    subject: str
    path: str
    hunks: tuple[CommitHunk, ...]
    num_files: int


def log_words(extensions: Iterable[str], num_commits: int) -> list[str]:
    """Return the words of a ``git log`` that ``file_changes`` can read: the newest commits first.

    The user's settings of git do not change it.
    """
    return [
        *("--no-merges", "--no-renames", "--diff-filter=M", f"--max-count={num_commits}"),
        *("--patch", "--unified=0", "--inter-hunk-context=0", "--diff-algorithm=myers"),
        *("--indent-heuristic", "--no-color", "--no-ext-diff", "--no-textconv"),
        *("--no-show-signature", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/"),
        *(f"--format={_COMMIT_MARK}%H %cs %s", "--end-of-options", "HEAD", "--"),
        *(f":(top,glob)**/*{extension}" for extension in extensions),
    ]


def file_changes(log: Iterable[str]) -> Iterator[FileChange]:
    """Yield the changes of each commit, from the lines of a log as ``log_words`` asks for it.

    A file without a line end at its end is left out, and so is one with an odd name.
    """
    commit = _Commit("", "", "")
    for line in log:
        if line.startswith(_COMMIT_MARK):
            yield from commit.changes()
            commit = _Commit(*[*line[1:].rstrip("\n").split(" ", 2), ""][:3])
        else:
            commit.read(line)
    yield from commit.changes()


@dataclass(slots=True)
class _Hunk:
    start: int
    end: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _File:
    path: str
    hunks: list[_Hunk] = field(default_factory=list)
    is_whole: bool = True  # every line ends with LF


class _Commit:
    """One commit, read line by line."""

    def __init__(self, commit: str, date: str, subject: str) -> None:
        self._about = (commit, date, subject)
        self._files: list[_File] = []
        self._is_in_file = False

    def read(self, line: str) -> None:
        if line.startswith("diff --git "):
            self._is_in_file = False
        elif not self._is_in_file:
            if line.startswith("+++ b/"):
                self._files.append(_File(line[len("+++ b/") :].rstrip("\n").removesuffix("\t")))
                self._is_in_file = True
        else:
            _read_in_file(self._files[-1], line)

    def changes(self) -> Iterator[FileChange]:
        commit, date, subject = self._about
        for file in self._files:
            if file.hunks and file.is_whole:
                yield FileChange(
                    commit=commit,
                    date=date,
                    subject=subject,
                    path=file.path,
                    hunks=_as_hunks(file.hunks),
                    num_files=len(self._files),
                )


def _read_in_file(file: _File, line: str) -> None:
    header = _HUNK.match(line)
    if header is not None:
        num_lines = int(header[2] or 1)
        # git counts lines from 1, and names the line above an insertion
        start = int(header[1]) - (1 if num_lines else 0)
        file.hunks.append(_Hunk(start, start + num_lines))
    elif line.startswith("\\"):
        file.is_whole = False
    elif file.hunks and line.startswith("-"):
        file.hunks[-1].old.append(line[1:])
    elif file.hunks and line.startswith("+"):
        file.hunks[-1].new.append(line[1:])


def _as_hunks(hunks: Sequence[_Hunk]) -> tuple[CommitHunk, ...]:
    return tuple(
        CommitHunk(
            start=hunk.start,
            end=hunk.end,
            old_text="".join(hunk.old),
            new_text="".join(hunk.new),
        )
        for hunk in hunks
    )
