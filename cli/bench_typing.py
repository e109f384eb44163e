"""A user who types: lines of real files are written anew, key by key, and after each key is asked.

Through a real language server, at a typist's pace: a request that is not answered when the next key
comes is cancelled, as editors do.
"""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from intarsia.cli.bench_sources import CutLine, cut_lines
from intarsia.cli.figures import Bench, Figure, percentile
from intarsia.evaluation.contestants.language_server import position_of
from intarsia.evaluation.server_process import STATUS, ServerProcess, serving

KEYS_PER_SECOND = 5.0
PROMPT_MS = 300.0
"""An answer within this feels immediate."""

_METHOD = "textDocument/inlineCompletion"
_LINES_A_PLACE = 2
_SLIP_CHANCE = 0.03  # a key is mistyped, seen, and taken back
_SPREAD = 0.35  # of the logarithm of a pause
_PAUSE_AT_LINE_END = 3.0  # times as long
_SEED = 7


@dataclass(frozen=True, slots=True)
class Key:
    """``text`` goes in at the cursor; empty: the sign before it is deleted."""

    text: str
    pause_s: float  # until the next key


@dataclass(kw_only=True, slots=True)
class Session:
    """What became of the keys."""

    num_keys: int = 0
    answered_ms: list[float] = field(default_factory=list)  # of those not overtaken by the next
    read: list[int] = field(default_factory=list)  # context tokens, of each answered by the engine
    last: Any = None  # what the server said last of a request


async def measure_typing(bench: Bench, *, pace: float = 1.0) -> Sequence[Figure]:
    """Type two lines at each place. ``pace`` 2 types twice as fast."""
    session = Session()
    chosen = random.Random(_SEED)
    async with serving(bench.address.as_environment()) as server:
        await server.open_session({"model": bench.options.model, "settle": bench.options.settle})
        for number, line in enumerate(cut_lines(bench.repeats)):
            keys = [replace(it, pause_s=it.pause_s / pace) for it in keys_of(line, chosen)]
            await _type(server, f"file:///bench/{number}/{line.file}", line, keys, session)
    return _figures(session, bench.repeats)


def typed_lines(line: CutLine) -> str:
    """Return what is typed: from the line's first sign to the end of the next line or so."""
    rest = line.text[line.start :].split("\n", _LINES_A_PLACE)
    return "\n".join(rest[:_LINES_A_PLACE])


def keys_of(line: CutLine, chosen: random.Random) -> Iterator[Key]:
    """Yield the keys: a line end brings the next line's indentation along, as editors do."""
    text = typed_lines(line)
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\n":
            stripped = text[at:].lstrip(" \t\n")
            sign = text[at : len(text) - len(stripped)]
        elif sign.isalpha() and chosen.random() < _SLIP_CHANCE:
            yield Key(chosen.choice("etaoinshrdlu"), _pause(chosen))
            yield Key("", _pause(chosen))
        at += len(sign)
        slowly = _PAUSE_AT_LINE_END if text[at : at + 1] == "\n" else 1.0
        yield Key(sign, slowly * _pause(chosen))


def _pause(chosen: random.Random) -> float:
    return chosen.lognormvariate(0.0, _SPREAD) / KEYS_PER_SECOND


async def _type(
    server: ServerProcess, uri: str, line: CutLine, keys: Sequence[Key], session: Session
) -> None:
    """Open the file without the lines, and type them."""
    before, after = line.text[: line.start], line.text[line.start + len(typed_lines(line)) :]
    opened = {"uri": uri, "languageId": "python", "version": 0, "text": before + after}
    server.notify("textDocument/didOpen", {"textDocument": opened})
    typed = ""
    for version, key in enumerate(keys, start=1):
        position = position_of(before + typed, len(before + typed))
        start = position if key.text else position_of(before + typed, len(before + typed) - 1)
        typed = typed + key.text if key.text else typed[:-1]
        change = {"range": {"start": start, "end": position}, "text": key.text}
        document = {"uri": uri, "version": version}
        server.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
        )
        request = {
            "textDocument": {"uri": uri},
            "position": position_of(before + typed, len(before + typed)),
            "context": {"triggerKind": 2},
        }
        await _ask(server, request, key.pause_s, session)
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


async def _ask(server: ServerProcess, request: object, pause_s: float, session: Session) -> None:
    """Ask, and give up when the next key comes; else wait for it."""
    started = time.perf_counter()
    session.num_keys += 1
    is_answered = await server.is_answered_within(pause_s, _METHOD, request)
    waited_s = time.perf_counter() - started
    if is_answered:
        session.answered_ms.append(1000 * waited_s)
        await asyncio.sleep(max(0.0, pause_s - waited_s))
    for told in server.taken(STATUS):
        if told["last"] == session.last:
            continue  # every status repeats it
        session.last = told["last"]
        if session.last is not None and session.last["tokensRead"] is not None:
            session.read.append(session.last["tokensRead"])


def _figures(session: Session, num_places: int) -> list[Figure]:
    method = (
        f"{session.num_keys} keys at {num_places} places of the standard library, "
        f"{KEYS_PER_SECOND:g} a second, through the language server"
    )
    prompt = sum(ms <= PROMPT_MS for ms in session.answered_ms)
    shares = [
        ("typing_prompt_share", f"keys answered within {PROMPT_MS:.0f} ms", prompt),
        ("typing_answered_share", "keys answered before the next", len(session.answered_ms)),
    ]
    return [
        *(
            Figure(
                name=name,
                words=words,
                value=100 * count / session.num_keys,
                unit="%",
                method=method,
            )
            for name, words, count in shares
        ),
        *(
            Figure(
                name=f"typing_p{percent}_ms",
                words=f"key to answer, p{percent}",
                value=percentile(session.answered_ms, percent),
                unit="ms",
                method="of the keys that were answered before the next",
            )
            for percent in (50, 95, 99)
            if session.answered_ms
        ),
        Figure(
            name="typing_read_tokens",
            words="context tokens read for a key",
            value=sum(session.read) / max(1, len(session.read)),
            unit="tokens",
            method=f"mean over the {len(session.read)} requests that reached the engine",
        ),
    ]
