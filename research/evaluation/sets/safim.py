"""Tasks of SAFIM, syntax-aware fill in the middle (Gong et al. 2024, arXiv 2403.04814).

*API* tasks are calls in files of real repositories. *Block* and *control* tasks are bodies and
conditions in programs for contests, which are run on their inputs. A hole has any extent, so it is
filled as a selected range.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from intarsia_research.evaluation.case import Case, ProgramRun

_FILE_NAMES = {
    "python": "solution.py",
    "java": "Solution.java",
    "cpp": "solution.cpp",
    "csharp": "Solution.cs",
}


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    input: str
    output: list[str]  # each of them is accepted


class _Task(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: Literal["api", "block", "control"]
    language: str
    prefix: str
    suffix: str
    truth: str
    tests: Sequence[_Run] = ()


def safim_case(line: bytes) -> Case:
    """Return the case of a line of JSON, with plain line ends.

    Raise msgspec.DecodeError if it is none, and ValueError if its language is unknown.
    """
    task = msgspec.json.decode(line, type=_Task)
    if task.language not in _FILE_NAMES:
        raise ValueError(f"{task.language!r} is none of {', '.join(_FILE_NAMES)}")
    return Case(
        id=task.id,
        set=f"safim-{task.kind}",
        kind="random_span",
        language=task.language,
        path=_FILE_NAMES[task.language],
        group=task.id,
        prefix=_plain(task.prefix),
        truth=_plain(task.truth),
        suffix=_plain(task.suffix),
        runs=tuple(ProgramRun(run.input, run.output) for run in task.tests),
    )


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
