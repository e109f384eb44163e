"""``eval``: measure how good and how fast fills are, on holes with known text."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from intarsia.cli.errors import ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import json_option, notices
from intarsia_research.benchmark.machine import describe_machine
from intarsia_research.commands.eval.choose import choose_sandbox, read_cases, systems_of
from intarsia_research.commands.eval.comparison import report_comparison, report_edit_comparison
from intarsia_research.commands.eval.edits import edit_options, evaluate_edits, taken_request
from intarsia_research.commands.eval.options import EvalRequest, eval_options
from intarsia_research.commands.eval.reports import report, save
from intarsia_research.commands.eval.typing import (
    TYPING,
    evaluate_typing,
    report_typing_comparison,
)
from intarsia_research.commands.termination import termination_as_interrupt
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.edits.edit_record import read_edit_run
from intarsia_research.evaluation.judge import judge
from intarsia_research.evaluation.record import Recording, Row, Run, read_run, run_is_of
from intarsia_research.evaluation.run import RunProgress, run
from intarsia_research.evaluation.run_tests import run_tests
from intarsia_research.evaluation.system import System

_RUN_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_NEW_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("eval", context_settings={"help_option_names": ["-h", "--help"]})
@edit_options
@eval_options
@click.option(
    "--save", "to_save", metavar="RUN.json", type=_NEW_FILE, help="Write every answer to this file."
)
@click.option("--show", metavar="RUN.json", type=_RUN_FILE, help="Show a saved run.")
@click.option(
    "--compare",
    metavar="A.json B.json",
    nargs=2,
    type=_RUN_FILE,
    help="Pair two saved runs, or two systems of one, hole by hole: is the difference noise?",
)
@click.option(
    "--system",
    "systems",
    metavar="NAME",
    multiple=True,
    help="With --compare: the system to compare; given twice: one for each side.",
)
@json_option
def command(
    to_save: Path | None,
    show: Path | None,
    compare: tuple[Path, Path] | None,
    systems: Sequence[str],
    as_json: bool,
    **options: Any,
) -> ExitCode:
    """Measure fills of holes with known text, or next edits, as an editor would ask for them.

    The systems take turns at each hole, so that all find the machine in the same state. Only --save
    writes a file. Exit code 1 if a hole or an edit got no answer.
    """
    _require_one_task(to_save, show, compare, systems)
    edit_request = taken_request(click.get_current_context(), options)
    if compare:
        kinds = {*map(run_is_of, compare)}
        if not systems and kinds == {"edits"}:
            report_edit_comparison(compare, as_json=as_json)
        elif not systems and kinds == {"typing"}:
            report_typing_comparison(compare, as_json=as_json)
        else:
            report_comparison(compare, systems, as_json=as_json)
        return ExitCode.OK
    if to_save:
        to_save.parent.mkdir(parents=True, exist_ok=True)  # before the work, not after it
    if show:
        if run_is_of(show) == "edits":
            report(read_edit_run(show), as_json=as_json)
        else:
            report(read_run(show), as_json=as_json)
        return ExitCode.OK
    if edit_request:
        failures = evaluate_edits(edit_request, to_save=to_save, as_json=as_json)
        return ExitCode.NOTHING if failures else ExitCode.OK
    request = EvalRequest(**options)
    if not TYPING.keys().isdisjoint(request.sets):
        evaluate_typing(request, to_save, as_json=as_json)
        return ExitCode.OK
    finished = _evaluate(request, to_save)
    report(finished, as_json=as_json)
    return ExitCode.NOTHING if any(row.is_failure for row in finished.rows) else ExitCode.OK


def _require_one_task(
    to_save: Path | None,
    show: Path | None,
    compare: tuple[Path, Path] | None,
    systems: Sequence[str],
) -> None:
    if compare and (show or to_save):
        raise click.UsageError("--compare prints only: combine it with --system and --json alone")
    if show and to_save:
        raise click.UsageError("--show reads a run that was saved: leave --save out")
    if systems and not compare:
        raise click.UsageError("--system goes with --compare")
    if len(systems) > 2:
        raise click.UsageError("--compare has two sides: give --system twice at most")


def _evaluate(request: EvalRequest, to_save: Path | None) -> Run:
    """Fill, judge and test. If it is interrupted, the answers so far are saved."""
    systems = systems_of(request)
    cases = read_cases(request)
    sandbox = choose_sandbox(cases, is_executed=request.is_executed)
    recording = Recording(machine=describe_machine(), settings=request.as_settings())
    try:
        with termination_as_interrupt(), LoadBar(notices()) as bar:
            asyncio.run(_fill(cases, systems, recording, bar))
            if sandbox is not None:
                recording.rows = run_tests(recording.rows, cases, sandbox, bar.update)
    except BaseException:
        if recording.rows:
            save(recording.as_run(), to_save)
        raise
    save(recording.as_run(), to_save)
    return recording.as_run()


async def _fill(
    cases: Sequence[Case], systems: Sequence[System], recording: Recording, bar: LoadBar
) -> None:
    def show_progress(progress: RunProgress) -> None:
        bar.update(progress.in_words, progress.share)

    def keep(row: Row) -> None:
        recording.rows.append(row)
        if row.is_failure:
            notices().print(f"no answer: {row.case}, {row.system}: {row.reason}")

    await run(
        cases,
        systems,
        judge=judge,
        on_progress=show_progress,
        on_ready=recording.systems.append,
        on_row=keep,
    )
