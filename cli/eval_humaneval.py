"""``intarsia eval humaneval``: whole lines of HumanEval's programs, straight from the engine.

No cleaning: what is measured is the model and the way it settles.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from intarsia.cli.console import notices
from intarsia.cli.eval_execute import Runner, make_runner
from intarsia.cli.eval_figures import Verdicts, evaluate
from intarsia.cli.eval_options import eval_options
from intarsia.cli.eval_problems import Problem, read_problems
from intarsia.cli.eval_report import report
from intarsia.cli.eval_trials import Answer, Trial, run_trials
from intarsia.cli.exit_codes import ExitCode
from intarsia.cli.load_bar import LoadBar
from intarsia.cli.switches import debug_option, json_option
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill, SettleMode
from intarsia.filling.options import FillOptions

_MAX_TOKENS = 40
_METHOD = (
    f"seeded shuffle, greedy, the line's end or {_MAX_TOKENS} tokens end a fill, nothing is "
    "cleaned; exact: equal without blanks at the ends"
)


@click.command("humaneval")
@click.argument("file", metavar="FILE.jsonl.gz", type=click.Path(path_type=Path))
@click.option("--shuffle-seed", type=int, default=7, show_default=True)
@click.option(
    "--execute/--no-execute",
    default=False,
    show_default=True,
    help="Run the programs with what the model wrote in them, on this machine, for pass@1.",
)
@eval_options
@json_option
@debug_option
def humaneval(
    file: Path,
    shuffle_seed: int,
    execute: bool,
    modes: tuple[SettleMode, ...],
    limit: int,
    model: str | None,
    as_json: bool,
) -> ExitCode:
    """Fill single lines of HumanEval's programs (HumanEval Infilling, arXiv 2207.14255).

    Exit code 1 where the engine gave no answer to a hole.
    """
    problems = read_problems(file, limit=limit, seed=shuffle_seed)
    runner = _announced_runner() if execute else None
    trials = asyncio.run(run_trials(problems, modes, _ask, model))
    verdicts = _judge(problems, trials, modes, runner) if runner else None
    evaluation = evaluate(trials, modes, verdicts)
    settings = {"file": file.name, "limit": limit, "shuffle_seed": shuffle_seed}
    report(evaluation, method=_METHOD, settings=settings, as_json=as_json)
    return ExitCode.NOTHING if evaluation.failures else ExitCode.OK


async def _ask(client: EngineClient, problem: Problem, options: FillOptions) -> Answer:
    filled = await client.fill(
        Fill(
            id=0,  # the client numbers its requests
            prefix=problem.prompt,
            suffix=problem.suffix,
            stop=("\n",),
            max_tokens=options.max_tokens or _MAX_TOKENS,
            max_steps=options.max_steps,
            settle=options.settle,
            model=options.model,
        )
    )
    return Answer(text=filled.text, filled=filled)


def _announced_runner() -> Runner:
    runner = make_runner()
    notices().print(f"warning: {runner.warning}")
    return runner


def _judge(
    problems: Sequence[Problem], trials: Sequence[Trial], modes: Sequence[SettleMode], run: Runner
) -> Verdicts:
    """Run the programs, after all fills, so that no fill's time meets them; equal ones once."""
    verdicts: dict[SettleMode, list[bool]] = {mode: [] for mode in modes}
    with LoadBar(notices()) as bar:
        for done, (problem, trial) in enumerate(zip(problems, trials, strict=True)):
            bar.update(f"program {done + 1} of {len(problems)}", done / len(problems))
            texts = {answer.text for answer in trial.answers.values()}
            passed = {text: run.passes(problem.program(text)) for text in texts}
            for mode in modes:
                answer = trial.answers.get(mode)
                verdicts[mode].append(answer is not None and passed[answer.text])
    return verdicts
