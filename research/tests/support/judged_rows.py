"""Rows made by hand, for tests of figures, comparisons and pages."""

from typing import Any

from intarsia_research.evaluation.judge import Judgement
from intarsia_research.evaluation.record import Row, Run, SystemInfo

_JUDGEMENT = {
    "is_exact": False,
    "similarity": 0.5,
    "is_empty": False,
    "parses": None,
    "duplicates_suffix": False,
    "length_error": 0,
    "passed": None,
    "is_named": None,
}


def row(case: str, system: str = "speculative", **changes: Any) -> Row:
    """Return a row; changes are fields of Row or of Judgement. The case is its own group."""
    judgement = {name: changes.pop(name, value) for name, value in _JUDGEMENT.items()}
    usual = {
        "set": "toy",
        "kind": "line",
        "language": "python",
        "group": case,
        "before": "a = 1\n",
        "after": "\nb = 2\n",
        "truth": "x = 1",
        "text": "x = 2",
        "reason": None,
        "is_failure": False,
        "ms": 100.0,
    }
    fields = usual | changes
    return Row(case=case, system=system, judgement=Judgement(**judgement), **fields)


def exact(case: str, system: str = "speculative", **changes: Any) -> Row:
    return row(case, system, **{"is_exact": True, "similarity": 1.0, "text": "x = 1"} | changes)


def failure(case: str, system: str = "speculative", **changes: Any) -> Row:
    usual = {
        "is_failure": True,
        "reason": "the engine went away",
        "text": "",
        "is_empty": True,
        "similarity": 0.0,
        "length_error": -5,
    }
    return row(case, system, **usual | changes)


def run_of(*rows: Row) -> Run:
    names = dict.fromkeys(row.system for row in rows)
    return Run(
        started="2026-01-01T00:00:00+00:00",
        machine="a toy",
        intarsia="0.0.0",
        settings={"set": ["toy"], "seed": 7},
        systems=tuple(
            SystemInfo(name=name, way="direct", model="toy", details={"decoding": name})
            for name in names
        ),
        rows=rows,
    )
