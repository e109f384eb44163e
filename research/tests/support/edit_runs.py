"""Cases of edits, and a finder that answers them from a script."""

import gzip
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from intarsia_research.evaluation.edits.edit_case import CommitHunk, EditCase, EditKind
from intarsia_research.evaluation.edits.edit_record import EditRow
from intarsia_research.evaluation.edits.finder import Found, FoundPlace, Level, Question
from intarsia_research.evaluation.edits.run_edits import AskingWay, run_edits
from intarsia_research.evaluation.edits.still_open import Replacement
from intarsia_research.evaluation.record import SystemInfo

LINES = tuple(f"line {number}\n" for number in range(20))


def hunk(start: int, old: int, *new_lines: str) -> CommitHunk:
    """Return a hunk that replaces ``old`` of LINES from ``start`` on."""
    return CommitHunk(
        start=start,
        end=start + old,
        old_text="".join(LINES[start : start + old]),
        new_text="".join(f"{line}\n" for line in new_lines),
    )


def edit_case(
    *hunks: CommitHunk,
    name: str = "one",
    repo: str = "owner/shop",
    kind: EditKind = "same",
    language: str = "python",
    date: str = "2025-01-02",
    before: str = "".join(LINES),
) -> EditCase:
    """Return a case of this text; with one hunk it is a control."""
    return EditCase(
        id=name,
        repo=repo,
        commit="0" * 40,
        path="shop.py",
        date=date,
        subject="change",
        language=language,
        licence="MIT",
        kind="control" if len(hunks) == 1 else kind,
        first_line=0,
        file_lines=before.count("\n"),
        files_in_commit=1,
        before=before,
        hunks=hunks,
    )


def place(
    line: int, num_lines: int, *new_lines: str, level: Level | None = "sure", gain: float = 9.0
) -> FoundPlace:
    text = "".join(f"{line}\n" for line in new_lines)
    return FoundPlace(
        change=Replacement(first_line=line, num_lines=num_lines, text=text),
        drop=3.0,
        gain=gain,
        gain_before=-1.0,
        log_p=-0.5,
        is_agreed=level == "sure",
        level=level,
    )


class ScriptedFinder:
    """Answers each question with the places that ``script`` returns, and records it."""

    info = SystemInfo(name="script", way="script", model=None, details={})

    def __init__(
        self,
        script: Callable[[Question], Sequence[FoundPlace] | Found],
        *,
        window: tuple[int, int] = (0, 99),
    ) -> None:
        self.script = script
        self.window = window
        self.prepared: list[Question] = []
        self.questions: list[Question] = []

    async def prepare(self, question: Question) -> None:
        self.prepared.append(question)

    async def find(self, question: Question) -> Found:
        self.questions.append(question)
        answer = self.script(question)
        if isinstance(answer, Found):
            return answer
        return Found(
            first_line=self.window[0],
            end_line=self.window[1],
            places=answer,
            line=answer[0].change.first_line if answer else None,
            ms=100.0,
            cpu_s=0.5,
            num_read=10,
            num_reused=20,
        )


async def rows_of(
    cases: Sequence[EditCase], finder: ScriptedFinder, way: AskingWay | None = None
) -> list[EditRow]:
    rows: list[EditRow] = []
    way = way or AskingWay()
    await run_edits(cases, finder, way=way, on_case=lambda *_: None, on_row=rows.append)
    return rows


def in_turn(*answers: Sequence[FoundPlace]) -> Callable[[Question], Sequence[FoundPlace]]:
    """Return a script that gives one answer after the other, then none."""
    left = list(answers)
    return lambda _: left.pop(0) if left else ()


def write_edit_set(file: Path, cases: Iterable[EditCase]) -> None:
    with gzip.open(file, "wb") as packed:
        packed.writelines(msgspec.json.encode(case) + b"\n" for case in cases)
