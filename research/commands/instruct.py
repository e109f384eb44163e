"""``instruct``: measure edits by instruction, each tested in the sandbox."""

import asyncio
from dataclasses import replace
from typing import Any, get_args

import click
import msgspec

from intarsia.cli.errors import ExitCode
from intarsia.cli.live_view import LoadBar
from intarsia.cli.options import fill_options
from intarsia.cli.terminal import json_option, notices, output
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill, Filled
from intarsia.infill.filling.instruct import instruct_selection
from intarsia.infill.filling.outcome import FillResult
from intarsia.infill.filling.plan import FillContext, FillOptions, OnStep
from intarsia.infill.languages import language_for_id
from intarsia_research.evaluation.intervals import Resampling
from intarsia_research.evaluation.sets.instructions import (
    InstructionCase,
    Split,
    instruction_cases,
)
from intarsia_research.sandbox.execute import find_sandbox


class InstructionRow(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one case; the cost is that of all its answers."""

    case: str
    passed: bool
    reason: str | None  # why there is no edit
    edited: str
    num_forwards: int
    num_tokens: int
    ms: float


@click.command("instruct")
@click.option(
    "--split", type=click.Choice(get_args(Split)), help="Half of the cases.  [default: both]"
)
@click.option("--no-draft", is_flag=True, help="Propose nothing from the selection, to compare.")
@fill_options
@json_option
def command(split: Split | None, no_draft: bool, as_json: bool, **options: Any) -> ExitCode:
    """Follow small instructions and test the results. Needs a sandbox."""
    fill = FillOptions(**options, is_fresh=True)
    cases = instruction_cases(split)
    with LoadBar(notices()) as bar:
        rows = asyncio.run(_rows(cases, fill, bar, has_draft=not no_draft))
    share = Resampling([row.case for row in rows]).share([row.passed for row in rows])
    assert share is not None, "there are cases"
    if as_json:
        click.echo(msgspec.json.encode(rows))
        return ExitCode.OK
    for row in rows:
        how = "passed" if row.passed else f"refused: {row.reason}" if row.reason else "failed"
        output().print(f"{row.case:22} {row.num_forwards:4} passes {row.ms:7.0f} ms  {how}")
    output().print(
        f"{sum(row.passed for row in rows)} of {len(rows)} passed "
        f"({share.low:.0%} to {share.high:.0%}), {sum(bool(row.reason) for row in rows)} refused; "
        f"{sum(row.num_forwards for row in rows)} passes for "
        f"{sum(row.num_tokens for row in rows)} tokens"
    )
    return ExitCode.OK


async def _rows(
    cases: list[InstructionCase], options: FillOptions, bar: LoadBar, *, has_draft: bool
) -> list[InstructionRow]:
    sandbox, rows = find_sandbox(), []
    async with EngineClient(name="eval") as client:

        async def ask(request: Fill, on_step: OnStep | None = None) -> Filled:
            draft = request.draft if has_draft else ""
            return await client.fill(msgspec.structs.replace(request, draft=draft), on_step)

        context = FillContext(
            ask=ask,
            language=language_for_id("python"),
            options=replace(options, num_candidates=1),
        )
        for number, case in enumerate(cases):
            bar.update(case.name, number / len(cases))
            place = await instruct_selection(context, case.text, case.selection, case.instruction)
            assert isinstance(place.outcome, FillResult), "the client raises without an answer"
            program, cost = case.program(place.result), place.outcome.cost
            rows.append(
                InstructionRow(
                    case=case.name,
                    passed=place.change is not None and sandbox.passes(program),
                    reason=place.refusal.reason if place.refusal else None,
                    edited=place.change.new if place.change else "",
                    num_forwards=cost.num_forwards,
                    num_tokens=cost.num_written,
                    ms=cost.ms,
                )
            )
    return rows
