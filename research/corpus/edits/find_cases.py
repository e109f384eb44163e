"""Finds the cases of one clone, in an order that only the seed and the commits decide."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from intarsia.infill.languages import LANGUAGES
from intarsia_research.corpus.edits.case_of_change import case_of_change
from intarsia_research.corpus.edits.changed_tokens import changed_tokens
from intarsia_research.corpus.edits.clone import Clone
from intarsia_research.corpus.edits.edit_kind import edit_kind
from intarsia_research.corpus.edits.eligible import (
    hunks_that_follow,
    is_eligible,
    may_be_control,
)
from intarsia_research.corpus.edits.held_out import require_not_held_out
from intarsia_research.corpus.edits.log_changes import FileChange, file_changes, log_words
from intarsia_research.edits.edit_case import CONTROL, EditCase, EditKind
from intarsia_research.errors import CorpusFault

MAX_CASES_A_PATH = 12
LANGUAGE_IDS = (
    *("python", "javascript", "javascriptreact", "typescript", "typescriptreact", "go", "rust"),
    *("java", "c", "cpp", "csharp", "kotlin", "php", "ruby", "scala", "swift"),
)
"""The languages with files that are searched: the rules for imports and heads are for these."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundCases:
    """Cases of one clone. They are made as they are drawn: each reads two files of the clone."""

    repo: str
    edits: Iterator[EditCase]
    controls: Iterator[EditCase]


def find_cases(clone: Clone, *, num_commits: int, seed: int) -> FoundCases:
    """Return the cases of a clone's newest commits, at most one of each sort a commit.

    Edits are drawn so that the kinds take turns. Controls of commits that change no other file of
    code come first. Raise CorpusFault if the clone is held out, or its licence is not permitted.
    """
    repo = clone.name()
    require_not_held_out(repo)
    licence = clone.licence()
    if licence is None:
        raise CorpusFault(f"{repo} has no licence file, or one that is not permitted: leave it out")

    def case_of(change: FileChange, kind: EditKind) -> EditCase | None:
        return case_of_change(change, kind, clone, repo=repo, licence=licence)

    candidates = _candidates(clone, num_commits, seed)
    edits = (one for one in candidates if one.kind != CONTROL)
    controls = (one for one in candidates if one.kind == CONTROL)
    return FoundCases(
        repo=repo,
        edits=_cases(_by_kind_in_turn([*edits]), case_of),
        controls=_cases(sorted(controls, key=lambda one: one.change.num_files != 1), case_of),
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    change: FileChange
    kind: EditKind


def _candidates(clone: Clone, num_commits: int, seed: int) -> list[_Candidate]:
    """Return all changes that make a case, in the seed's order, none with the hunks of another."""
    extensions = [
        extension
        for language in LANGUAGES
        if language.id in LANGUAGE_IDS
        for extension in language.extensions
    ]
    changes = file_changes(clone.log(log_words(extensions, num_commits)))
    found: dict[tuple[tuple[str, str], ...], _Candidate] = {}
    for change in filter(is_eligible, changes):
        candidate = _candidate(change)
        if candidate is not None:
            texts = ((hunk.old_text.strip(), hunk.new_text.strip()) for hunk in change.hunks)
            found.setdefault(tuple(sorted(texts)), candidate)
    return sorted(found.values(), key=lambda one: _draw_key(one.change, seed))


def _candidate(change: FileChange) -> _Candidate | None:
    if len(change.hunks) == 1:
        return _Candidate(change, CONTROL) if may_be_control(change) else None
    changes = [changed_tokens(hunk) for hunk in change.hunks]
    hunks = hunks_that_follow(change, changes)
    if hunks is None:
        return None
    return _Candidate(replace(change, hunks=hunks), edit_kind(hunks, changes))


def _by_kind_in_turn(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Order candidates so that the kinds take turns as long as they have one."""
    num: Counter[EditKind] = Counter()
    turns = []
    for candidate in candidates:
        turns.append(num[candidate.kind])
        num[candidate.kind] += 1
    order = sorted(range(len(candidates)), key=turns.__getitem__)
    return [candidates[index] for index in order]


def _cases(
    candidates: Sequence[_Candidate], case_of: Callable[[FileChange, EditKind], EditCase | None]
) -> Iterator[EditCase]:
    commits: set[str] = set()
    num_of_path: Counter[str] = Counter()
    for candidate in candidates:
        change = candidate.change
        if change.commit in commits or num_of_path[change.path] >= MAX_CASES_A_PATH:
            continue
        case = case_of(change, candidate.kind)
        if case is not None:
            commits.add(change.commit)
            num_of_path[change.path] += 1
            yield case


def _draw_key(change: FileChange, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{change.commit}:{change.path}".encode()).digest()
