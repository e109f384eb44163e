"""Measure how long a user who works on several files waits for a suggestion, moment by moment.

A real language server is asked on files of two foreign packages: in a new file, after accepting, on
the line below, after a jump, back in earlier files, and after a restart of the engine.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from intarsia_research.benchmark.editor.editing_client import EditingClient, OpenFile, Shown
from intarsia_research.benchmark.editor.foreign_files import (
    PACKAGES,
    Cut,
    ForeignFile,
    cut_in_lines,
    foreign_files,
)
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.evaluation.intervals import percentile
from intarsia_research.evaluation.server_process import serving

LOOK_S = 1.0
"""How long the user looks at a suggestion before accepting it, or before going elsewhere."""

ENTER_S = 0.5
"""Time between an accepted suggestion and the next line."""

IMMEDIATE_MS = 30.0
"""An answer within this time was there already."""

JUMP_LINES = (30, 150)
FEWEST_FILES_BETWEEN = 15
"""Other files that are worked on before a file counts as left long ago."""

MAX_RESTARTS = 5
_NEAR_LINES = 5
_PERCENTS = (50, 95)
_SEED = 7

MOMENTS = {
    "first": "first suggestion in a new file",
    "accepted": "right after accepting",
    "below": "on the line below",
    "below_nothing": "on the line below, where nothing was suggested",
    "jump": "after a jump within the file",
    "previous": "back in the previous file",
    "long_ago": "back in a file left long ago",
    "restart": "in an open file after a restart of the engine",
}
"""The moments in which the user waits, in words."""


@dataclass(kw_only=True, slots=True)
class _Work:
    """One user's session, and the milliseconds waited in each moment."""

    editor: EditingClient
    chosen: random.Random
    look_s: float
    enter_s: float
    files: list[OpenFile] = field(default_factory=list)
    waits_ms: dict[str, list[float]] = field(default_factory=dict)

    async def ask(self, moment: str, file: OpenFile) -> Shown:
        shown = await self.editor.ask(file)
        self.waits_ms.setdefault(moment, []).append(shown.ms)
        return shown


async def measure_editing(bench: Bench, *, pace: float = 1.0) -> Sequence[Figure]:
    """Work on ``bench.repeats`` files of each package. ``pace`` 2: the user looks half as long."""
    figures: list[Figure] = []
    for package in PACKAGES:
        files = foreign_files(package, bench.repeats)
        waits_ms = await _work_on(bench, files, pace)
        figures += figures_of(package, len(files), waits_ms)
    return figures


async def _work_on(
    bench: Bench, files: Sequence[ForeignFile], pace: float
) -> dict[str, list[float]]:
    options = {"model": bench.options.model, "decoding": bench.options.decoding}
    async with serving(bench.address.as_environment()) as server:
        await server.open_session(options)
        work = _Work(
            editor=EditingClient(server),
            chosen=random.Random(_SEED),
            look_s=LOOK_S / pace,
            enter_s=ENTER_S / pace,
        )
        for number, file in enumerate(files):
            await _write_in_new_file(work, f"file:///bench/{number}/{file.path.name}", file.text)
        if len(work.files) > FEWEST_FILES_BETWEEN:
            for opened in work.files:
                await _come_back(work, "long_ago", opened)
        for opened in work.files[:MAX_RESTARTS]:
            await bench.client.stop()
            await bench.client.preload(bench.options.model)
            await _come_back(work, "restart", opened)
    return work.waits_ms


async def _write_in_new_file(work: _Work, uri: str, text: str) -> None:
    """Write in a new file, jump within it, and look into the file before it."""
    num_lines = text.count("\n")
    cut = cut_in_lines(text, range(num_lines // 3, num_lines), work.chosen)
    if cut is None:
        return
    file = work.editor.open(uri, text, cut)
    shown = await work.ask("first", file)
    await asyncio.sleep(work.look_s)
    if shown.text:
        work.editor.insert(file, shown.text)
        await work.ask("accepted", file)
        await asyncio.sleep(work.enter_s)
    work.editor.press_enter(file)
    await work.ask("below" if shown.text else "below_nothing", file)
    await asyncio.sleep(work.look_s)
    if (place := _jump_from(work, file)) is not None:
        work.editor.cut(file, place)
        await work.ask("jump", file)
        await asyncio.sleep(work.look_s)
    work.files.append(file)
    if len(work.files) > 1:
        await _come_back(work, "previous", work.files[-2])


def _jump_from(work: _Work, file: OpenFile) -> Cut | None:
    nearest, farthest = JUMP_LINES
    above = range(file.line - farthest, file.line - nearest)
    below = range(file.line + nearest, file.line + farthest)
    return cut_in_lines(file.text, [*above, *below], work.chosen)


async def _come_back(work: _Work, moment: str, file: OpenFile) -> None:
    """Write on a few lines away from the last place in a file, and look at the suggestion."""
    near = range(file.line - _NEAR_LINES, file.line + _NEAR_LINES + 1)
    place = cut_in_lines(file.text, [it for it in near if it != file.line], work.chosen)
    if place is None:
        return
    work.editor.cut(file, place)
    await work.ask(moment, file)
    await asyncio.sleep(work.look_s)


def figures_of(package: str, num_files: int, waits_ms: dict[str, list[float]]) -> Iterator[Figure]:
    """Yield p50 and p95 of each moment, and the share of answers that were there already."""
    where = f"{num_files} files of {package}"
    for moment, words in MOMENTS.items():
        waits = waits_ms.get(moment, [])
        for percent in _PERCENTS:
            yield Figure(
                name=f"editing_{package}_{moment}_p{percent}_ms",
                words=f"{package}: {words}, p{percent}",
                value=percentile(waits, percent) if waits else None,
                unit="ms",
                method=_method(moment, where, len(waits)),
            )
    accepted = waits_ms.get("accepted", [])
    yield Figure(
        name=f"editing_{package}_accepted_immediate_share",
        words=f"{package}: right after accepting, answered within {IMMEDIATE_MS:g} ms",
        value=100 * sum(ms <= IMMEDIATE_MS for ms in accepted) / len(accepted)
        if accepted
        else None,
        unit="%",
        method=_method("accepted", where, len(accepted)),
    )


def _method(moment: str, where: str, num_requests: int) -> str:
    if moment == "long_ago" and not num_requests:
        return f"needs more than {FEWEST_FILES_BETWEEN} files: --repeats {FEWEST_FILES_BETWEEN + 1}"
    how = {
        "first": "opened and asked at once, somewhere in a line",
        "accepted": f"accepted after {LOOK_S:g} s and asked at once",
        "below": f"Enter {ENTER_S:g} s after accepting, with an editor's indentation",
        "below_nothing": f"Enter {LOOK_S:g} s after an answer without a suggestion",
        "jump": f"{JUMP_LINES[0]} to {JUMP_LINES[1]} lines up or down",
        "previous": f"up to {_NEAR_LINES} lines from the last place there",
        "long_ago": f"the same, after at least {FEWEST_FILES_BETWEEN} other files",
        "restart": "the same, with the model loaded again",
    }[moment]
    return f"request to answer, {how}; {num_requests} requests in {where}"
