"""Measure how long a user waits for a next edit: from the last key to the offers, or to none.

A variable of a foreign file is renamed where it is assigned, key by key, and its uses below are
left. As editors do, a suggestion is requested after the last key; if one is shown, the search for
next edits waits until the user has read it.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

from intarsia_research.benchmark.editor.foreign_files import PACKAGES, ForeignFile, foreign_files
from intarsia_research.benchmark.editor.renames import RenamePlace, rename_place
from intarsia_research.benchmark.figures import Bench, Figure, percentile
from intarsia_research.evaluation.server_process import ServerProcess, serving
from intarsia_research.evaluation.systems.language_server import position_of

TYPED = "_all"
"""What is added to the name."""

KEY_S = 0.15
"""Between two keys."""

BEFORE_S = 6.0
"""How long the file is open and at rest before the first key: long enough to be read."""

LEVEL = "bold"
_INLINE_EDIT = "textDocument/copilotInlineEdit"
_AUTOMATIC = 2  # LSP's InlineCompletionTriggerKind
_SEED = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class _Waited:
    ms: float
    is_offered: bool
    is_shown: bool  # a suggestion, first


async def measure_next_edit_wait(bench: Bench, *, before_s: float = BEFORE_S) -> Sequence[Figure]:
    """Rename a variable in ``bench.repeats`` files of each package."""
    options = {"model": bench.options.model, "nextEdit": LEVEL}
    chosen = random.Random(_SEED)
    waited: list[_Waited] = []
    async with serving(bench.address.as_environment()) as server:
        await server.open_session(options, asks_for_next_edits=True)
        for package in PACKAGES:
            for number, file in enumerate(foreign_files(package, bench.repeats)):
                place = rename_place(file.text, chosen)
                if place is not None:
                    uri = f"file:///bench/{package}/{number}/{file.path.name}"
                    waited.append(await _rename(server, uri, file, place, before_s))
    return figures_of(waited)


async def _rename(
    server: ServerProcess, uri: str, file: ForeignFile, place: RenamePlace, before_s: float
) -> _Waited:
    text, at = file.text, place.end
    opened = {"uri": uri, "languageId": "python", "version": 0, "text": text}
    server.notify("textDocument/didOpen", {"textDocument": opened})
    await _ask(server, uri, text, at)
    await asyncio.sleep(before_s)
    for version, key in enumerate(TYPED, start=1):
        where = position_of(text, at)
        text, at = text[:at] + key + text[at:], at + len(key)
        document = {"uri": uri, "version": version}
        change = {"range": {"start": where, "end": where}, "text": key}
        server.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
        )
        if version < len(TYPED):
            await asyncio.sleep(KEY_S)
    started = time.perf_counter()
    is_shown = await _ask(server, uri, text, at)
    request = {"textDocument": document, "position": position_of(text, at)}
    answer = await server.request(_INLINE_EDIT, request)
    ms = 1000 * (time.perf_counter() - started)
    server.taken()  # nothing reads the notifications
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    return _Waited(ms=ms, is_offered=bool(answer["edits"]), is_shown=is_shown)


async def _ask(server: ServerProcess, uri: str, text: str, at: int) -> bool:
    """Request a suggestion as an editor does while the user types; return whether there is one."""
    request = {
        "textDocument": {"uri": uri},
        "position": position_of(text, at),
        "context": {"triggerKind": _AUTOMATIC},
    }
    result = await server.request("textDocument/inlineCompletion", request)
    return bool((result or {}).get("items"))


def figures_of(waited: Sequence[_Waited]) -> list[Figure]:
    """Return the figures; of the waits only those without a suggestion first."""
    alone = [it for it in waited if not it.is_shown]
    offered = [it for it in alone if it.is_offered]
    method = (
        f"{len(waited)} renames, {len(waited) - len(alone)} with a suggestion first, which are "
        "left out"
    )
    return [
        *_waits("offer", "from the last key to an offer", offered, method),
        *_waits("end", "from the last key to the end of the search", alone, method),
        Figure(
            name="next_edit_wait_offered_share",
            words=f"renames with an offer, {LEVEL}",
            value=100 * len(offered) / len(alone) if alone else None,
            unit="%",
            method=f"{len(offered)} of {len(alone)}; {method}",
        ),
    ]


def _waits(name: str, words: str, waited: Sequence[_Waited], method: str) -> list[Figure]:
    return [
        Figure(
            name=f"next_edit_wait_{name}_p{percent}_ms",
            words=f"{words}, p{percent}",
            value=percentile([it.ms for it in waited], percent) if waited else None,
            unit="ms",
            method=f"{len(waited)} waits; {method}",
        )
        for percent in (50, 95)
    ]
