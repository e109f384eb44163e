"""Problems of the HumanEval Infilling benchmark (Bavarian et al. 2022, arXiv 2207.14255).

A line of its files becomes a case with a test. A problem has several holes.
"""

from dataclasses import dataclass

import msgspec

from intarsia_research.evaluation.case import Case, CaseKind


class _Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A program with a hole, and the test that the whole program must pass."""

    task_id: str  # "set/HumanEval/number of the problem/hole"
    entry_point: str
    prompt: str
    suffix: str
    canonical_solution: str
    test: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Set:
    name: str
    kind: CaseKind


_SETS = {
    "SingleLineInfilling": _Set(name="humaneval-single-line", kind="line"),
    "RandomSpanInfilling": _Set(name="humaneval-random-span", kind="random_span"),
    "RandomSpanInfillingLight": _Set(name="humaneval-random-span-light", kind="random_span"),
}


def humaneval_case(line: bytes) -> Case:
    """Return the case of a line of JSON.

    Raise msgspec.DecodeError if it is none, and ValueError if its set is unknown.
    """
    problem = msgspec.json.decode(line, type=_Problem)
    kind_of_hole, _, rest = problem.task_id.partition("/")
    group, _, hole = rest.rpartition("/")
    if kind_of_hole not in _SETS or not group or not hole:
        raise ValueError(f"{problem.task_id!r} belongs to none of the sets {', '.join(_SETS)}")
    known = _SETS[kind_of_hole]
    truth, suffix = problem.canonical_solution, problem.suffix
    if known.kind == "line":
        truth, suffix = _without_line_end(problem), f"\n{suffix}"
    return Case(
        id=problem.task_id,
        set=known.name,
        kind=known.kind,
        language="python",
        path="solution.py",
        group=group,
        prefix=problem.prompt,
        truth=truth,
        suffix=suffix,
        test=f"\n{problem.test}\ncheck({problem.entry_point})\n",
    )


def _without_line_end(problem: _Problem) -> str:
    """Return the line without its line end, as an editor would ask for it."""
    line = problem.canonical_solution.removesuffix("\n")
    if "\n" in line or not (problem.prompt == "" or problem.prompt.endswith("\n")):
        raise ValueError(f"{problem.task_id!r} is not a whole line")
    return line
