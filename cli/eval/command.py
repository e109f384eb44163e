"""``intarsia eval``: how good and how fast fills are, on holes whose text is known."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from intarsia.cli.errors import ExitCode
from intarsia.cli.eval.choose import contestants_of, read_cases
from intarsia.cli.eval.comparison import report_comparison
from intarsia.cli.eval.options import Asked, eval_options
from intarsia.cli.eval.reports import load, report, save, write_page
from intarsia.cli.eval.run_tests import choose_sandbox, run_tests
from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import debug_option, json_option
from intarsia.cli.terminal import notices, termination_as_interrupt
from intarsia.research.benchmark.machine import describe_machine
from intarsia.research.evaluation.judge import judge
from intarsia.research.evaluation.record import Row, Run, SystemInfo
from intarsia.research.evaluation.run import Progress, run

_RUN_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_NEW_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("eval", context_settings={"help_option_names": ["-h", "--help"]})
@eval_options
@click.option("--save", "to_save", metavar="RUN.json", type=_NEW_FILE, help="Keep every answer.")
@click.option("--html", metavar="PAGE.html", type=_NEW_FILE, help="Write figures and cases there.")
@click.option("--show", metavar="RUN.json", type=_RUN_FILE, help="Show a kept run again.")
@click.option(
    "--compare",
    metavar="A.json B.json",
    nargs=2,
    type=_RUN_FILE,
    help="Pair two kept runs hole by hole (or two contestants of one): is it more than noise?",
)
@click.option(
    "--contestant",
    "contestants",
    metavar="NAME",
    multiple=True,
    help="With --compare: whose answers; given twice, one for each side.",
)
@json_option
@debug_option
def command(
    to_save: Path | None,
    html: Path | None,
    show: Path | None,
    compare: tuple[Path, Path] | None,
    contestants: Sequence[str],
    as_json: bool,
    **options: Any,
) -> ExitCode:
    """Measure fills on holes whose text is known, as an editor would ask for them.

    Whoever fills takes turns at each hole, so that all meet the machine in the same state. Nothing
    but --save and --html writes files. Exit code 1 where a hole got no answer.
    """
    _require_one_thing(to_save, html, show, compare, contestants)
    if compare:
        report_comparison(compare, contestants, as_json=as_json)
        return ExitCode.OK
    for path in (to_save, html):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)  # before the work, not after it
    if show:
        report(load(show), html=html, as_json=as_json)
        return ExitCode.OK
    made = _evaluate(Asked(**options), to_save, html)
    report(made, html=html, as_json=as_json)
    return ExitCode.NOTHING if any(row.is_failure for row in made.rows) else ExitCode.OK


def _require_one_thing(
    to_save: Path | None,
    html: Path | None,
    show: Path | None,
    compare: tuple[Path, Path] | None,
    contestants: Sequence[str],
) -> None:
    if compare and (show or to_save or html):
        raise click.UsageError("--compare prints, and goes with --contestant and --json alone")
    if show and to_save:
        raise click.UsageError("--show reads a run that was saved: leave --save out")
    if contestants and not compare:
        raise click.UsageError("--contestant goes with --compare")
    if len(contestants) > 2:
        raise click.UsageError("--compare has two sides: give --contestant twice at most")


def _evaluate(asked: Asked, to_save: Path | None, html: Path | None) -> Run:
    """Fill, judge and test. What was done is kept, whatever ends it."""
    contestants = contestants_of(asked)
    cases = read_cases(asked)
    sandbox = choose_sandbox(cases, is_executed=asked.is_executed)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    infos: list[SystemInfo] = []
    rows: list[Row] = []

    def made() -> Run:
        return Run(
            started=started,
            machine=describe_machine(),
            intarsia=version("intarsia"),
            settings=asked.as_settings(),
            contestants=tuple(infos),
            rows=tuple(rows),
        )

    try:
        with termination_as_interrupt(), LoadBar(notices()) as bar:

            def tell(progress: Progress) -> None:
                bar.update(progress.in_words, progress.share)

            def keep(row: Row) -> None:
                rows.append(row)
                if row.is_failure:
                    notices().print(f"no answer: {row.case}, {row.contestant}: {row.reason}")

            asyncio.run(
                run(
                    cases,
                    contestants,
                    judge=judge,
                    on_progress=tell,
                    on_ready=infos.append,
                    on_row=keep,
                )
            )
            if sandbox is not None:
                rows[:] = run_tests(rows, cases, sandbox, bar.update)
    except BaseException:
        if rows:
            save(made(), to_save)
            write_page(made(), html)
        raise
    save(made(), to_save)
    return made()
