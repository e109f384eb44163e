"""``intarsia eval lines``: whole lines cut out of any source files, filled as an editor would.

The whole way is measured: canvas, engine and cleaning.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from intarsia.cli.eval_cut_lines import CutLine, cut_lines, find_sources
from intarsia.cli.eval_figures import evaluate
from intarsia.cli.eval_options import eval_options
from intarsia.cli.eval_report import report
from intarsia.cli.eval_trials import Answer, run_trials
from intarsia.cli.exit_codes import ExitCode
from intarsia.cli.switches import debug_option, json_option
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import SettleMode
from intarsia.filling.fill_hole import FillOutcome, fill_hole
from intarsia.filling.options import FillOptions
from intarsia.infill.suggestion import Suggestion

_METHOD = (
    "whole lines of code at random, cut out up to their indentation, filled as `intarsia fill` "
    "does; exact: equal without blanks at the ends"
)


@click.command("lines")
@click.argument(
    "paths",
    metavar="FILES_OR_FOLDERS...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True),
)
@click.option("--seed", type=int, default=7, show_default=True, help="Chooses the lines.")
@eval_options
@json_option
@debug_option
def lines(
    paths: Sequence[Path],
    seed: int,
    modes: tuple[SettleMode, ...],
    limit: int,
    model: str | None,
    as_json: bool,
) -> ExitCode:
    """Fill lines that are cut out of source files, and compare with what stood there.

    Of folders, tests, installed packages and files of 200 kB or more are left out. Nothing is
    written. Exit code 1 where the engine gave no answer to a hole.
    """
    holes = cut_lines(find_sources(paths), limit=limit, seed=seed)
    trials = asyncio.run(run_trials(holes, modes, _ask, model))
    evaluation = evaluate(trials, modes)
    report(evaluation, method=_METHOD, settings={"limit": limit, "seed": seed}, as_json=as_json)
    return ExitCode.NOTHING if evaluation.failures else ExitCode.OK


async def _ask(client: EngineClient, line: CutLine, options: FillOptions) -> Answer:
    outcome = await fill_hole(client.fill, line.text, line.hole, line.language, options)
    assert isinstance(outcome, FillOutcome), "a client that gets no answer raises"
    text = outcome.found.text if isinstance(outcome.found, Suggestion) else ""
    return Answer(text=text, filled=outcome.filled)
