"""Run the tests of filled programs in a sandbox, several at once."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import msgspec

from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.record import Row
from intarsia_research.sandbox.execute import Sandbox

MAX_AT_ONCE = 4


def run_tests(
    rows: Sequence[Row],
    cases: Sequence[Case],
    sandbox: Sandbox,
    on_progress: Callable[[str, float], None],
) -> list[Row]:
    """Return the rows with their test results; equal programs run once.

    A failure counts as not passed.
    """
    tested = {(case.set, case.id): case for case in cases if case.is_tested}
    programs = {
        row_program: None
        for row in rows
        if not row.is_failure and (row_program := _program(row, tested)) is not None
    }
    passed = _passed(list(programs), sandbox, on_progress)
    return [_with_test_result(row, _program(row, tested), passed) for row in rows]


def _program(row: Row, tested: dict[tuple[str, str], Case]) -> str | None:
    case = tested.get((row.set, row.case))
    return None if case is None else program_to_run(case, row.text)


def program_to_run(case: Case, text: str) -> str:
    """Return a Python program that reaches its end only if the case's file is right with the text.

    A case with ``runs`` is run once for each of them, with its input and its output in files behind
    the descriptors 0 and 1, so that it may read and print in any way.
    """
    if not case.runs:
        return f"{case.filled(text)}\n{case.test}"
    runs = [(run.input, [_as_compared(output) for output in run.accepted]) for run in case.runs]
    return f"SOURCE = {case.filled(text)!r}\nRUNS = {runs!r}\n{_RUN_ALL}"


def _as_compared(output: str) -> str:
    """Remove the blanks at the ends of lines and the empty lines at the end."""
    return "\n".join(line.rstrip() for line in output.splitlines()).rstrip()


_RUN_ALL = """
import os, sys

code = compile(SOURCE, "solution.py", "exec")
for number, (given, accepted) in enumerate(RUNS):
    with open(f"in{number}", "w") as file:
        file.write(given)
    os.dup2(os.open(f"in{number}", os.O_RDONLY), 0)
    os.dup2(os.open(f"out{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
    try:
        exec(code, {"__name__": "__main__"})
    except SystemExit:
        pass
    sys.stdout.flush()
    with open(f"out{number}", errors="replace") as file:
        printed = "\\n".join(line.rstrip() for line in file.read().splitlines()).rstrip()
    assert printed in accepted
"""


def _passed(
    programs: Sequence[str], sandbox: Sandbox, on_progress: Callable[[str, float], None]
) -> dict[str, bool]:
    passed: dict[str, bool] = {}
    with ThreadPoolExecutor(max_workers=min(MAX_AT_ONCE, os.cpu_count() or 1)) as pool:
        running = {pool.submit(sandbox.passes, program): program for program in programs}
        try:
            for done in as_completed(running):
                passed[running[done]] = done.result()
                stage = f"program {len(passed)} of {len(programs)}"
                on_progress(stage, len(passed) / len(programs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return passed


def _with_test_result(row: Row, program: str | None, passed: dict[str, bool]) -> Row:
    if program is None:
        return row
    has_passed = not row.is_failure and passed[program]
    return msgspec.structs.replace(
        row, judgement=msgspec.structs.replace(row.judgement, passed=has_passed)
    )
