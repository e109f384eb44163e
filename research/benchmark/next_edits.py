"""Measure how many next edits are offered while finished code is typed, where none is wanted.

The typist is patient: wherever the text is at rest, the language server is given the time that it
needs to look for next edits. So the figures do not depend on how fast the machine is, and are the
most that a user would see.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from intarsia_research.benchmark.editor.finished_code import FinishedStretch, finished_stretches
from intarsia_research.benchmark.editor.typing_keys import KEYS_PER_SECOND, keys_of_text
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.evaluation.server_process import STATUS, ServerProcess, serving
from intarsia_research.evaluation.systems.language_server import position_of

REST_S = 0.4
"""A longer pause between two keys is a rest: the server then looks for next edits."""

LAST_PAUSE_S = 1.0
"""At least, after the last key of a stretch."""

WAIT_S = 14.0
"""An answer that takes longer may be one from before the end of the look."""

MAX_WAITS = 8

FURTHER_S = 5.0
"""After an offer, for further places of the same edit."""

LEVELS = ("sure", "balanced", "bold")

_NEXT_EDITS = "intarsia/nextEdits"
_INLINE_EDIT = "textDocument/copilotInlineEdit"
_HOUR_S = 3_600.0
_SEED = 7


@dataclass(kw_only=True, slots=True)
class _Typed:
    """What has been typed so far, and what was offered."""

    server: ServerProcess
    chosen: random.Random = field(default_factory=lambda: random.Random(_SEED))
    typed_s: float = 0.0  # the pauses between all keys
    num_keys: int = 0
    num_rests: int = 0
    num_settled: int = 0  # edits that the server looked at
    offered: Counter[str] = field(default_factory=Counter)  # by the surest level
    right: Counter[str] = field(default_factory=Counter)
    seen: set[tuple[str, str]] = field(default_factory=set)  # URIs, and new texts


async def measure_next_edits(bench: Bench) -> Sequence[Figure]:
    """Type a stretch of ``bench.repeats`` files, and count offers at every level."""
    stretches = finished_stretches(bench.repeats)
    options = {"model": bench.options.model, "nextEdit": LEVELS[-1], "excludeSecrets": False}
    async with serving(bench.address.as_environment()) as server:
        await server.open_session(options, asks_for_next_edits=True)
        typed = _Typed(server=server)
        for number, stretch in enumerate(stretches):
            await _type(typed, f"file:///bench/{number}/{stretch.path}", stretch)
    return figures_of(typed, len(stretches))


async def _type(typed: _Typed, uri: str, stretch: FinishedStretch) -> None:
    """Open the file without the stretch, and type it key by key."""
    server, text, version = typed.server, "", 0
    opened = {
        "uri": uri,
        "languageId": stretch.language,
        "version": version,
        "text": stretch.present(""),
    }
    server.notify("textDocument/didOpen", {"textDocument": opened})
    *keys, last = keys_of_text(stretch.typed, typed.chosen)
    for key in (*keys, replace(last, pause_s=max(last.pause_s, LAST_PAUSE_S))):
        present = stretch.before + text
        end = position_of(present, len(present))
        start = end if key.text else position_of(present, len(present) - 1)
        text, version = text + key.text if key.text else text[:-1], version + 1
        change = {"range": {"start": start, "end": end}, "text": key.text}
        document = {"uri": uri, "version": version}
        server.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
        )
        typed.num_keys += 1
        typed.typed_s += key.pause_s
        if key.pause_s > REST_S:
            await _rest(typed, document, stretch, text)
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


async def _rest(
    typed: _Typed, document: Mapping[str, Any], stretch: FinishedStretch, text: str
) -> None:
    """Wait until the server has looked for next edits, and count what it offers."""
    typed.num_rests += 1
    present = stretch.before + text
    request = {"textDocument": document, "position": position_of(present, len(present))}
    for _ in range(MAX_WAITS):  # a server that is still looking answers after a time
        started = time.monotonic()
        await typed.server.request(_INLINE_EDIT, request)
        if time.monotonic() - started < WAIT_S:
            break
    found = [*typed.server.taken()]
    if any(it.method == _NEXT_EDITS and it.params["edits"] for it in found):
        await asyncio.sleep(FURTHER_S)
        await typed.server.request(_INLINE_EDIT, request)  # notifications are read with an answer
        found += typed.server.taken()
    for notification in found:
        params = notification.params
        if notification.method == STATUS:
            typed.num_settled = params["nextEdits"]["settled"]
        elif notification.method == _NEXT_EDITS and params["version"] == document["version"]:
            _count(typed, params, stretch, text)


def _count(typed: _Typed, params: Any, stretch: FinishedStretch, text: str) -> None:
    """Count offers that were not made before."""
    present = stretch.present(text)
    for offer in params["edits"]:
        after = replaced(present, offer["range"], offer["newText"])
        if (key := (params["uri"], offer["newText"])) in typed.seen:
            continue
        typed.seen.add(key)
        typed.offered[offer["level"]] += 1
        typed.right[offer["level"]] += is_right(after, stretch, text)


def is_right(after: str, stretch: FinishedStretch, typed: str) -> bool:
    """Whether a text has only what is typed and what is going to be typed next.

    ``typed`` may end with a slip. Blanks at line ends do not count.
    """
    plain, head, tail = _plain(after), _plain(stretch.before), _plain("\n" + stretch.after)
    if not plain.startswith(head) or not plain.endswith(tail):
        return False
    middle = plain[len(head) : len(plain) - len(tail)].rstrip("\n")
    whole = _plain(stretch.typed)
    lines = middle.split("\n")
    is_of_whole = whole.split("\n")[: len(lines)] == lines
    return is_of_whole and len(middle) >= len(_common(whole, _plain(typed)).rstrip())


def _common(one: str, other: str) -> str:
    """Return the beginning that two texts have in common."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(sign for sign, _ in pairs)


def replaced(text: str, where: Mapping[str, Any], new: str) -> str:
    """Return a text with a range of LSP replaced; its units are those of UTF-16."""
    start, end = (_offset_of(text, where[name]) for name in ("start", "end"))
    return text[:start] + new + text[end:]


def _offset_of(text: str, position: Mapping[str, int]) -> int:
    lines = text.split("\n")
    before = sum(len(line) + 1 for line in lines[: position["line"]])
    if position["line"] >= len(lines):
        return len(text)
    units = lines[position["line"]].encode("utf-16-le")[: 2 * position["character"]]
    return before + len(units.decode("utf-16-le", "ignore"))


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


def figures_of(typed: _Typed, num_files: int) -> list[Figure]:
    """Return the figures, scaled to an hour of typing."""
    hours = typed.typed_s / _HOUR_S
    method = (
        f"per hour of typing, from {60 * hours:.1f} minutes: {typed.num_keys:,} keys in "
        f"{num_files} finished files, {KEYS_PER_SECOND:g} a second, {typed.num_rests:,} rests of "
        f"over {REST_S:g} s, each as long as the search takes"
    )
    figures = [
        Figure(
            name="next_edits_settled_per_hour",
            words="edits that are looked at, typing finished code",
            value=typed.num_settled / hours if hours else None,
            unit="",
            method=f"{method}; {typed.num_settled} edits",
        )
    ]
    for number, level in enumerate(LEVELS):
        offered = sum(typed.offered[name] for name in LEVELS[: number + 1])
        false = offered - sum(typed.right[name] for name in LEVELS[: number + 1])
        figures.append(
            Figure(
                name=f"next_edits_false_{level}_per_hour",
                words=f"false next edits, typing finished code, {level}",
                value=false / hours if hours else None,
                unit="",
                method=f"{method}; {offered} offers, {false} false",
            )
        )
    return figures
