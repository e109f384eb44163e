"""A run of edit cases as a file: every place that was found, in every step of every case.

Figures are computed from it and never stored in it.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import msgspec

from intarsia_research.evaluation.edits.edit_case import CommitHunk, EditKind
from intarsia_research.evaluation.edits.finder import Level, includes
from intarsia_research.evaluation.record import SystemInfo, read_saved

EDIT_RUN_VERSION = 1


class JudgedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place that was found, compared with the commit. Likelihoods are in nats."""

    first_line: int  # of the present text
    old_text: str  # its lines there; none: an insertion before ``first_line``
    new_text: str
    above: str  # lines around it, for display
    below: str
    drop: float
    gain: float
    gain_before: float
    log_p: float
    is_agreed: bool
    level: Level | None  # the surest at which it is offered; None: it is not
    hunks: tuple[int, ...]  # of the case, not put in yet, at this place; none: a wrong place
    exact_hunks: tuple[int, ...]  # those that it puts in; none: it is wrong, at least in part

    @property
    def is_exact(self) -> bool:
        """Whether the text after it is the text with that change of the commit put in."""
        return bool(self.exact_hunks)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One question about a case and its answer."""

    put_in: tuple[int, ...]  # the numbers of the hunks that the text already had
    in_window: tuple[int, ...]  # of the other hunks, those that could be found
    places: tuple[JudgedPlace, ...]  # what is offered first, best first; then the others
    line: int | None  # the likeliest place of all, corrected or not
    drop: float  # of that line, in nats
    line_hunks: tuple[int, ...]  # of the case, not put in yet, that have this line
    reason: str | None
    is_failure: bool
    ms: float
    cpu_s: float | None
    num_read: int | None
    num_reused: int | None

    def offer(self, level: Level) -> JudgedPlace | None:
        """Return the first place that is offered at a level, None if there is none."""
        return next((place for place in self.places if includes(level, place.level)), None)


class EditRow(msgspec.Struct, frozen=True, kw_only=True):
    """One case. ``steps[0]`` follows the user's edit, the others the changes put in since."""

    case: str
    repo: str
    path: str
    date: str
    kind: EditKind
    language: str
    user_hunk: int  # the number of the hunk that is the user's edit
    hunks: tuple[CommitHunk, ...]
    steps: tuple[Step, ...]

    @property
    def is_control(self) -> bool:
        return self.kind == "control"

    @property
    def first(self) -> Step:
        return self.steps[0]

    @property
    def is_counted_edit(self) -> bool:
        """Whether it is an edit with a further place in the window, and was answered."""
        return not self.is_control and bool(self.first.in_window) and not self.first.is_failure


class EditRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run. The rows are in the order in which they were made."""

    version: int = EDIT_RUN_VERSION
    of: Literal["edits"] = "edits"
    started: str  # ISO 8601, UTC
    machine: str
    intarsia: str  # version
    settings: dict[str, Any]  # as given on the command line
    finder: SystemInfo
    rows: tuple[EditRow, ...]


@dataclass(kw_only=True, slots=True)
class EditRecording:
    """A run in progress: whatever ends it, its rows so far can be saved."""

    machine: str
    settings: dict[str, Any]
    finder: SystemInfo | None = None  # until it is ready
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    rows: list[EditRow] = field(default_factory=list)

    def as_run(self) -> EditRun:
        """Return the run as recorded so far. A finder must have been ready."""
        assert self.finder is not None, "rows come from a finder"
        return EditRun(
            started=self.started,
            machine=self.machine,
            intarsia=version("intarsia"),
            settings=self.settings,
            finder=self.finder,
            rows=tuple(self.rows),
        )


def read_edit_run(path: Path) -> EditRun:
    """Read a run file. Raise EvaluationFault if it is no run of edits of this version."""
    return read_saved(path, EditRun, version=EDIT_RUN_VERSION, of="edits")
