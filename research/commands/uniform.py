"""``uniform``: holes as token ids for a machine without texts, and its answers judged."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import mean

import click
from rich.table import Table

from intarsia.cli.errors import ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices, output, size
from intarsia.engine.model_store.catalog import DEFAULT_MODEL
from intarsia_research.benchmark.machine import describe_machine
from intarsia_research.commands.eval.choose import choose_sandbox, read_cases
from intarsia_research.commands.eval.options import CaseRequest
from intarsia_research.commands.termination import termination_as_interrupt
from intarsia_research.errors import EvaluationFault
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.figure_text import NONE, titled_table
from intarsia_research.evaluation.judge import judge as judge_text
from intarsia_research.evaluation.record import Recording, Row, write_saved
from intarsia_research.evaluation.run import run
from intarsia_research.evaluation.run_tests import run_tests
from intarsia_research.uniform_study.arms import ABLATION
from intarsia_research.uniform_study.encoded_cases import (
    CaseSource,
    EncodedCase,
    Header,
    Starts,
    encode_case,
    read_header,
    write_cases,
)
from intarsia_research.uniform_study.judged_answers import (
    UNBOUND,
    Answers,
    RecordedArm,
    read_answers,
    write_answers,
)
from intarsia_research.uniform_study.read_cases import default_reader

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.group("uniform")
def command() -> None:
    """Measure a uniform-state variant of the default model, on a machine that sees ids alone.

    \b
    uniform encode --set builtin --out C.jsonl.gz     holes as token ids
    uniform fill C.jsonl.gz --weights W --out A.jsonl.gz   answers of each way of denoising
    uniform judge C.jsonl.gz A.jsonl.gz --out RUNS    answers, as runs of `eval`
    """


@command.command("encode", short_help="Write holes as token ids.")
@click.option("--set", "sets", metavar="NAME", multiple=True, required=True, help="As in `eval`.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Only N holes of a set.")
@click.option("--seed", type=int, default=7, help="Seed that chooses and orders the holes.")
@click.option(
    "--humaneval",
    metavar="FOLDER",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    envvar="INTARSIA_HUMANEVAL",
    help="The folder of the benchmark's files.  [env: INTARSIA_HUMANEVAL]",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
def encode(
    sets: Sequence[str], limit: int | None, seed: int, humaneval: Path | None, out: Path
) -> ExitCode:
    """Write each hole's context and true text as ids of the default model."""
    named = [str(Path(name).resolve()) if Path(name).is_file() else name for name in sets]
    folder = None if humaneval is None else str(humaneval.resolve())
    source = CaseSource(sets=named, limit=limit, seed=seed, humaneval=folder)
    reader = default_reader()
    starts = Starts(reader.text)
    cases = [encode_case(case, reader, starts) for case in _cases(source)]
    write_cases(out, Header(source=source, starts=starts.rows), cases)
    output().print(_lengths_table(cases))
    used = {token for case in cases for token in chain(case.context, case.suffix, case.truth)}
    first = set[int]().union(*(start.ids for start in starts.rows))
    output().print(
        f"{out}: {size(out.stat().st_size)}, {len(cases):,} holes, {len(used):,} different ids, "
        f"{len(used | first):,} with those of {len(starts.rows)} starts"
    )
    return ExitCode.OK


@command.command("fill", short_help="Fill holes by each way of denoising.")
@click.argument("cases_file", metavar="CASES", type=_FILE)
@click.option("--weights", type=_FILE, required=True, help="Of `train uniform`.")
@click.option("--model", default=DEFAULT_MODEL, help="The model that was trained.")
@click.option(
    "--arm",
    "arms",
    type=click.Choice([arm.name for arm in ABLATION]),
    multiple=True,
    help="A way; repeatable.  [default: all]",
)
@click.option("--at-once", type=click.IntRange(min=1), default=16, help="Holes in a pass.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
def fill(
    cases_file: Path, weights: Path, model: str, arms: Sequence[str], at_once: int, out: Path
) -> ExitCode:
    """Write the answers of a uniform-state model, as token ids, for `uniform judge`."""
    from intarsia_research.uniform_study.fill_file import fill_file

    chosen = [arm for arm in ABLATION if not arms or arm.name in arms]
    with termination_as_interrupt(), LoadBar(notices()) as bar:
        answers = fill_file(cases_file, weights, chosen, model, at_once, bar.update)
    write_answers(out, answers)
    output().print(f"{out}: {len(answers):,} answers of {len(chosen)} ways")
    return ExitCode.OK


@command.command("judge", short_help="Judge answers given as token ids.")
@click.argument("cases_file", metavar="CASES", type=_FILE)
@click.argument("answers_file", metavar="ANSWERS", type=_FILE)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True)
@click.option("--exec/--no-exec", "is_executed", default=None, help="As in `eval`.")
def judge(cases_file: Path, answers_file: Path, out: Path, is_executed: bool | None) -> ExitCode:
    """Judge each arm's answers, and write a run of `eval` for each."""
    cases, answers = _cases(read_header(cases_file).source), read_answers(answers_file)
    _require_known(answers, cases)
    sandbox, reader = choose_sandbox(cases, is_executed=is_executed), default_reader()
    arms = [RecordedArm(name, lines, reader) for name, lines in answers.items()]
    out.mkdir(parents=True, exist_ok=True)
    recording = Recording(
        machine=describe_machine(),
        settings={"cases": str(cases_file), "answers": str(answers_file)},
        systems=[arm.info for arm in arms],
    )
    with termination_as_interrupt(), LoadBar(notices()) as bar:
        for number, arm in enumerate(arms):
            bar.update(f"reading {arm.name}", number / len(arms))
            answered = [case for case in cases if (case.set, case.id) in answers[arm.name]]
            recording.rows += asyncio.run(run(answered, [arm], judge=judge_text))
        if sandbox is not None:
            recording.rows = run_tests(recording.rows, cases, sandbox, bar.update)
    for info in recording.systems:
        rows = [row for row in recording.rows if row.system == info.name]
        write_saved(
            replace(recording, systems=[info], rows=rows).as_run(), out / f"{info.name}.json"
        )
    output().print(_arms_table(recording.rows, answers))
    return ExitCode.OK


def _cases(source: CaseSource) -> list[Case]:
    return read_cases(
        CaseRequest(
            sets=source.sets,
            limit=source.limit,
            seed=source.seed,
            humaneval=None if source.humaneval is None else Path(source.humaneval),
        )
    )


def _require_known(answers: Answers, cases: Sequence[Case]) -> None:
    known = {(case.set, case.id) for case in cases}
    for arm, lines in answers.items():
        for key in lines:
            if key not in known:
                raise EvaluationFault(f"{arm} answers {' '.join(key)}, which is none of the cases")


def _lengths_table(cases: Sequence[EncodedCase]) -> Table:
    table = titled_table("tokens of true texts", "set")
    for name in ("holes", "no hole", "half", "90 %", "99 %", "longest", "no room"):
        table.add_column(name, justify="right")
    for name in dict.fromkeys(case.set for case in cases):
        of_set = [case for case in cases if case.set == name]
        lengths = sorted(len(case.truth) for case in of_set if case.reason is None) or [0]
        table.add_row(
            name,
            *map(str, (len(of_set), sum(case.reason is not None for case in of_set))),
            *(str(lengths[int(share * (len(lengths) - 1))]) for share in (0.5, 0.9, 0.99, 1)),
            str(sum(len(case.truth) > case.max_tokens for case in of_set)),
        )
    return table


def _arms_table(rows: Sequence[Row], answers: Answers) -> Table:
    table = titled_table("answers", "arm")
    for name in ("set", "holes", "exact", "pass@1", "empty", "unbound", "forwards", "steps"):
        table.add_column(name, justify="left" if name == "set" else "right")
    for arm, name in dict.fromkeys((row.system, row.set) for row in rows):
        of_set = [row for row in rows if (row.system, row.set) == (arm, name)]
        judged = [row.judgement for row in of_set]
        lines = [answers[arm][name, row.case][0] for row in of_set]
        table.add_row(
            *(arm, name, str(len(of_set))),
            _percent(it.is_exact for it in judged),
            _percent(it.passed for it in judged),
            _percent(it.is_empty for it in judged),
            _percent(row.reason == UNBOUND.reason for row in of_set),
            _mean(line.num_forwards for line in lines),
            _mean(line.num_steps for line in lines),
        )
    return table


def _percent(flags: Iterable[bool | None]) -> str:
    share = _mean(None if flag is None else 100.0 * flag for flag in flags)
    return share if share == NONE else f"{share} %"


def _mean(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{mean(known):.1f}" if known else NONE
