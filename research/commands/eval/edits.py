"""``eval --edits``: next edits after the edits of real commits."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from intarsia.cli.live_view import LoadBar
from intarsia.cli.terminal import notices
from intarsia_research.benchmark.machine import describe_machine
from intarsia_research.commands.eval.reports import report, save
from intarsia_research.commands.termination import termination_as_interrupt
from intarsia_research.evaluation.edits.edit_case import EditCase, choose_cases, read_edit_set
from intarsia_research.evaluation.edits.edit_record import EditRecording, EditRow
from intarsia_research.evaluation.edits.engine_finder import EngineFinderSystem
from intarsia_research.evaluation.edits.finder import Direction
from intarsia_research.evaluation.edits.run_edits import AskingWay, UserEdit, run_edits
from intarsia_research.evaluation.sets.cut_case import language_ids

_F = TypeVar("_F", bound=Callable[..., Any])

SHARED = frozenset({"languages", "limit", "seed", "model", "to_save", "as_json", "debug"})
"""The options of holes that edits have too, by parameter name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EditRequest:
    """Which cases of edits to ask, and how. The fields are the options' parameter names."""

    edits: Path
    edit_repositories: Sequence[str]
    user_edit: UserEdit
    direction: str
    max_places: int
    languages: Sequence[str]
    limit: int | None
    seed: int
    model: str | None

    @property
    def way(self) -> AskingWay:
        return AskingWay(user_edit=self.user_edit, directions=DIRECTIONS[self.direction])

    def as_settings(self) -> dict[str, Any]:
        """Return the options that were set, by option name, for the run's record."""
        settings = {
            "edits": str(self.edits),
            "edits-of": list(self.edit_repositories),
            "user-edit": self.user_edit,
            "direction": self.direction,
            "max-places": self.max_places,
            "lang": list(self.languages),
            "limit": self.limit,
            "seed": self.seed,
            "model": self.model,
        }
        return {name: value for name, value in settings.items() if value not in (None, [])}


def edit_options(command: _F) -> _F:
    """Add the options that only edits have."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def taken_request(ctx: click.Context, options: dict[str, Any]) -> EditRequest | None:
    """Return the request for edits, None without ``--edits``, and take its options out.

    Raise UsageError for options of holes beside ``--edits``, and the other way round.
    """
    own = {name: options.pop(name) for name in OWN}
    given = [
        parameter
        for parameter in ctx.command.params
        if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    ]
    if own["edits"] is None:
        for parameter in given:
            if parameter.name in OWN:
                raise click.UsageError(f"{parameter.opts[0]} goes with --edits")
        return None
    for parameter in given:
        if parameter.name not in OWN | SHARED:
            raise click.UsageError(f"{parameter.opts[0]} is for holes: leave it out with --edits")
    shared = {name: options[name] for name in ("languages", "limit", "seed", "model")}
    return EditRequest(**own, **shared)


def evaluate_edits(request: EditRequest, *, to_save: Path | None, as_json: bool) -> int:
    """Ask, judge and report; return the number of cases without an answer.

    If it is interrupted, the rows so far are saved.
    """
    cases = choose_cases(
        read_edit_set(request.edits),
        repositories=request.edit_repositories,
        languages=language_ids(request.languages),
        limit=request.limit,
        seed=request.seed,
    )
    recording = EditRecording(machine=describe_machine(), settings=request.as_settings())
    system = EngineFinderSystem(model=request.model, max_places=request.max_places)
    try:
        with termination_as_interrupt(), LoadBar(notices()) as bar:
            asyncio.run(_ask(cases, system, request.way, recording, bar))
    except BaseException:
        if recording.rows:
            save(recording.as_run(), to_save)
        raise
    run = recording.as_run()
    save(run, to_save)
    report(run, as_json=as_json)
    return sum(row.first.is_failure for row in run.rows)


async def _ask(
    cases: Sequence[EditCase],
    system: EngineFinderSystem,
    way: AskingWay,
    recording: EditRecording,
    bar: LoadBar,
) -> None:
    def show_progress(case: str, num_done: int) -> None:
        bar.update(f"case {num_done + 1} of {len(cases)}, {case}", num_done / len(cases))

    def keep(row: EditRow) -> None:
        recording.rows.append(row)
        if row.first.is_failure:
            notices().print(f"no answer: {row.case}: {row.first.reason}")

    bar.update("getting the model ready", 0.0)
    async with system.ready() as finder:
        recording.finder = finder.info
        await run_edits(
            cases,
            finder,
            way=way,
            on_case=show_progress,
            on_row=keep,
        )


DIRECTIONS: Mapping[str, Sequence[Direction]] = {
    "both": ("below", "above"),
    "below": ("below",),
    "above": ("above",),
}

_OPTIONS = (
    click.option(
        "--edits",
        metavar="SET.jsonl.gz",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Not holes: next edits after the first edit of each case of this set.",
    ),
    click.option(
        "--edits-of",
        "edit_repositories",
        metavar="OWNER/NAME",
        multiple=True,
        help="With --edits: only cases of this repository; repeatable.",
    ),
    click.option(
        "--user-edit",
        type=click.Choice(get_args(UserEdit)),
        default="first",
        help="With --edits: which edit of a file is the user's; the others are the truth.",
    ),
    click.option(
        "--direction",
        type=click.Choice(list(DIRECTIONS)),
        default="both",
        help="With --edits: look below the edit, above it, or as editors do: below it first, and "
        "above it unless there is a sure offer.",
    ),
    click.option(
        "--max-places",
        metavar="N",
        type=click.IntRange(min=1, max=10),
        default=2,
        help="With --edits: correct at most N places after each edit.",
    ),
)
OWN = frozenset({"edits", "edit_repositories", "user_edit", "direction", "max_places"})
