"""Holes in lines that a commit added, while the commit's other files are the user's last edits.

A change often goes on in the next file: a new function is called, a new field is read. The tree is
the one of the commit, without the hole's text. The same clone and seed give the same holes.
"""

import random
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path

from intarsia.infill.languages import language_for_path
from intarsia.workspace.context.chunk import RecentEdit
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case, CaseKind
from intarsia_research.evaluation.sets.cut_case import cut_case, language_ids
from intarsia_research.evaluation.sets.git_history import Commit, GitHistory
from intarsia_research.holes.cut_holes import CutHole, CutHoleKind, cut_holes
from intarsia_research.holes.node_table import hole_nodes

SET_NAME = "commits"
KIND: CutHoleKind = "rest_of_line"
NUM_COMMITS = 3_000
"""How many of the newest commits are searched. Most change a single file of code."""

MAX_FILES = 12
MAX_CHANGED_LINES = 120  # of one file: more is a rewrite
MAX_LINE_CHARS = 200
MAX_HOLES_A_COMMIT = 3
FEWEST_NAME_CHARS = 4
LINES_ABOVE, LINES_BELOW = 80, 20
"""Where the name may not be: the model would read it there without any edit."""

_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitSource:
    """Where commits come from. Trees of commits are kept in the ``cache`` folder."""

    repository: Path
    cache: Path
    revision: str = "HEAD"  # the newest commit that is read

    @property
    def name(self) -> str:
        """The repository's name, which the model reads."""
        return self.repository.resolve().name.removesuffix(".git") or "repository"


def commit_cases(
    source: CommitSource,
    *,
    languages: Sequence[str] | None,
    kinds: Sequence[CaseKind] | None,
    limit: int,
    seed: int,
) -> list[Case]:
    """Return at most ``limit`` cases, those of the newest commits first.

    Raise EvaluationFault if it is no repository of git, a language is unknown, or there is no such
    hole.
    """
    if kinds and KIND not in kinds:
        raise EvaluationFault(f"holes of commits are of the kind {KIND}: choose that, or no kind")
    wanted = language_ids(languages) if languages else None
    history = GitHistory(source.repository)
    cases = list(islice(_cases(history, source, wanted, seed), limit))
    if not cases:
        raise EvaluationFault(
            f"{source.repository} has no commit with such a hole: it takes commits that change two "
            "files of code or more"
        )
    return cases


def _cases(
    history: GitHistory, source: CommitSource, wanted: Collection[str] | None, seed: int
) -> Iterator[Case]:
    for commit in history.newest_commits(NUM_COMMITS, source.revision):
        paths = [path for path in commit.changed if hole_nodes(language_for_path(path))]
        if not 2 <= len(paths) <= MAX_FILES:
            continue
        changes = _changes(history, commit, paths)
        chance = random.Random(f"{seed}:{commit.id}")
        found = [
            hole
            for path in paths
            if path in changes and (wanted is None or language_for_path(path).id in wanted)
            for hole in _holes(path, changes, chance)
        ]
        if found:
            root = source.cache / "commit-trees" / commit.id / source.name
            history.write_sources(commit.id, root)
            chosen = chance.sample(found, min(len(found), MAX_HOLES_A_COMMIT))
            yield from (_case(one, changes, commit, root) for one in chosen)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Change:
    """What a commit did to a file. Ranges of lines of the new text are 0-based, ends exclusive."""

    old: str
    new: str
    ranges: Sequence[tuple[int, int]]

    @property
    def num_lines(self) -> int:
        return sum(end - start for start, end in self.ranges)

    def names(self) -> set[str]:
        """Return the names on the lines that the commit wrote."""
        lines = self.new.split("\n")
        return {
            name
            for start, end in self.ranges
            for line in lines[start:end]
            for name in _NAME.findall(line)
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class _Hole:
    path: str
    cut: CutHole
    name: str


def _changes(history: GitHistory, commit: Commit, paths: Sequence[str]) -> Mapping[str, _Change]:
    """Return what the commit did to each file, without those that it rewrote."""
    old = history.texts(commit.parent, paths)
    new = history.texts(commit.id, paths)
    changes = {path: _change(old[path], new[path]) for path in paths if path in old and path in new}
    return {
        path: change
        for path, change in changes.items()
        if 0 < change.num_lines <= MAX_CHANGED_LINES and "\r" not in change.new
    }


def _change(old: str, new: str) -> _Change:
    matcher = SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False)
    ranges = [
        (start, end)
        for kind, _, _, start, end in matcher.get_opcodes()
        if kind in ("replace", "insert")
    ]
    return _Change(old=old, new=new, ranges=ranges)


def _holes(path: str, changes: Mapping[str, _Change], chance: random.Random) -> Iterator[_Hole]:
    """Yield at most one hole of a file: from a name on that is new to it, to the line's end.

    The name is on a line that the commit wrote in another file, too.
    """
    change = changes[path]
    elsewhere = {name for other, one in changes.items() if other != path for name in one.names()}
    names = elsewhere - set(_NAME.findall(change.old))
    if not names:
        return
    starts = _line_starts(change.new)
    cuts = cut_holes(change.new, language_for_path(path), [KIND])[KIND]
    chance.shuffle(cuts)
    for cut in cuts:
        match = _NAME.match(change.new, cut.start)
        if match is None or match[0] not in names or len(match[0]) < FEWEST_NAME_CHARS:
            continue
        is_written = any(starts[first] <= cut.start < starts[end] for first, end in change.ranges)
        is_near = re.search(rf"\b{re.escape(match[0])}\b", _around(change.new, cut, starts))
        if is_written and not is_near and cut.end - cut.start <= MAX_LINE_CHARS:
            yield _Hole(path=path, cut=cut, name=match[0])
            return


def _around(text: str, cut: CutHole, starts: Sequence[int]) -> str:
    """Return the lines near a hole, without what it cuts out."""
    line = bisect_right(starts, cut.start) - 1
    first = starts[max(0, line - LINES_ABOVE)]
    last = starts[min(len(starts) - 1, line + LINES_BELOW + 1)]
    return text[first : cut.start] + "\n" + text[cut.end : last]


def _line_starts(text: str) -> list[int]:
    """Return the offset of each line, and of the text's end."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return [*starts, len(text) + 1]


def _case(hole: _Hole, changes: Mapping[str, _Change], commit: Commit, root: Path) -> Case:
    """Return the case; the files next to the hole's own, in the order of paths, are newest."""
    text = changes[hole.path].new
    case = cut_case(
        text,
        hole.cut,
        path=f"{commit.id[:12]}/{hole.path}",
        language=language_for_path(hole.path),
        set_name=SET_NAME,
    )
    edits = [
        RecentEdit(path=(root / path).as_posix(), text=change.new, start_line=start, end_line=end)
        for path, change in _nearest_first(changes, hole.path)
        for start, end in reversed(change.ranges)
    ]
    return replace(
        case, path=hole.path, root=root, name=hole.name, group=commit.id, recent_edits=tuple(edits)
    )


def _nearest_first(changes: Mapping[str, _Change], path: str) -> list[tuple[str, _Change]]:
    """Return the other files: those before ``path``, last first, then those after it."""
    order = sorted(changes)
    at = order.index(path)
    return [(one, changes[one]) for one in [*order[:at][::-1], *order[at + 1 :]]]
