"""The tests of filled programs: whether they are run, and what they say."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import msgspec

from intarsia.cli.terminal import notices
from intarsia.research.errors import EvaluationFault
from intarsia.research.evaluation.case import Case
from intarsia.research.evaluation.execute import Sandbox, find_sandbox
from intarsia.research.evaluation.record import Row

MAX_AT_ONCE = 4


def choose_sandbox(cases: Sequence[Case], *, is_executed: bool | None) -> Sandbox | None:
    """Return where tests are run, None where none is. Tells the user what is not as it should be.

    Without a sandbox they are run only where that was asked for. Raises EvaluationFault where it
    was, and cannot be done.
    """
    if is_executed is False or all(case.test is None for case in cases):
        return None
    try:
        sandbox = find_sandbox()
    except EvaluationFault as fault:
        if is_executed:
            raise
        notices().print(f"the tests are not run: {fault}")
        return None
    if sandbox.is_isolated:
        return sandbox
    if not is_executed:
        notices().print(
            "the tests are not run, as there is no sandbox for code that a model wrote: install "
            "bubblewrap (`bwrap`), or let them have your rights by --exec"
        )
        return None
    notices().print(f"warning: {sandbox.warning}")
    return sandbox


def run_tests(
    rows: Sequence[Row],
    cases: Sequence[Case],
    sandbox: Sandbox,
    on_progress: Callable[[str, float], None],
) -> list[Row]:
    """Return the rows with what the tests say; equal programs run once.

    A failure has not passed.
    """
    tested = {(case.set, case.id): case for case in cases if case.test is not None}
    programs = {
        row_program: None
        for row in rows
        if not row.is_failure and (row_program := _program(row, tested)) is not None
    }
    passed = _passed(list(programs), sandbox, on_progress)
    return [_with_verdict(row, _program(row, tested), passed) for row in rows]


def _program(row: Row, tested: dict[tuple[str, str], Case]) -> str | None:
    case = tested.get((row.set, row.case))
    return None if case is None else f"{case.filled(row.text)}\n{case.test}"


def _passed(
    programs: Sequence[str], sandbox: Sandbox, on_progress: Callable[[str, float], None]
) -> dict[str, bool]:
    passed: dict[str, bool] = {}
    with ThreadPoolExecutor(max_workers=min(MAX_AT_ONCE, os.cpu_count() or 1)) as pool:
        running = {pool.submit(sandbox.passes, program): program for program in programs}
        try:
            for done in as_completed(running):
                passed[running[done]] = done.result()
                words = f"program {len(passed)} of {len(programs)}"
                on_progress(words, len(passed) / len(programs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return passed


def _with_verdict(row: Row, program: str | None, passed: dict[str, bool]) -> Row:
    if program is None:
        return row
    has_passed = not row.is_failure and passed[program]
    return msgspec.structs.replace(
        row, verdict=msgspec.structs.replace(row.verdict, passed=has_passed)
    )
