"""Edits of several places, as they are read from commits, made in a test."""

from intarsia_research.edits.edit_case import CommitHunk, EditCase


def renamed_case(
    old: str, new: str, *, repo: str = "owner/name", number: int = 0, num_uses: int = 3
) -> EditCase:
    """Return a file in which a function gets another name: its definition, then its uses."""
    lines = [f"def {old}(a):\n", "    return a\n", "\n"]
    hunks = [hunk(0, lines[0], f"def {new}(a):\n")]
    for use in range(num_uses):
        line = f"x{use} = {old}({use})\n"
        hunks.append(hunk(len(lines), line, f"x{use} = {new}({use})\n"))
        lines += [line, f"print(x{use})\n", "\n"]
    return case_of("".join(lines), hunks, id=f"{repo}@{number}", repo=repo)


def control_case(*, repo: str = "owner/name", number: int = 0) -> EditCase:
    """Return a file of many lines in which one line was changed."""
    lines = [f"value{i} = other{i}\n" for i in range(40)]
    hunks = [hunk(3, lines[3], "value3 = other4\n")]
    return case_of("".join(lines), hunks, id=f"{repo}@c{number}", repo=repo, kind="control")


def hunk(start: int, old: str, new: str) -> CommitHunk:
    """Return a hunk that replaces these lines at ``start``."""
    return CommitHunk(start=start, end=start + old.count("\n"), old_text=old, new_text=new)


def case_of(
    before: str, hunks: list[CommitHunk], *, id: str, repo: str, kind: str = "rename"
) -> EditCase:
    """Return a case with fields that the tests do not look at."""
    return EditCase(
        id=id,
        repo=repo,
        commit="0" * 40,
        path="a.py",
        date="2026-01-01",
        subject="Rename",
        language="python",
        licence="MIT",
        kind=kind,  # type: ignore[arg-type]
        first_line=0,
        file_lines=before.count("\n"),
        files_in_commit=1,
        before=before,
        hunks=tuple(hunks),
    )
