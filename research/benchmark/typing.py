"""Measure answers for a user who types: the language server is asked after each key.

A request that is unanswered at the next key is cancelled. The user may still have seen a draft of
its text, in an editor that shows drafts.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from intarsia_research.benchmark.editor.typing_keys import TypingPlace, typing_places
from intarsia_research.benchmark.figures import Bench, Figure
from intarsia_research.benchmark.typing_baseline import measure_typing_baseline
from intarsia_research.benchmark.typing_figures import KeyFates, figures_of
from intarsia_research.evaluation.server_process import STATUS, Notified, ServerProcess, serving
from intarsia_research.evaluation.systems.language_server import position_of

DRAFT = "intarsia/draft"

_METHOD = "textDocument/inlineCompletion"


@dataclass(kw_only=True, slots=True)
class _TypingSession:
    """One server, and the results for the keys."""

    server: ServerProcess
    fates: KeyFates = field(default_factory=KeyFates)
    last: Any = None  # the server's last report on a request


async def measure_typing(bench: Bench, *, pace: float = 1.0) -> Sequence[Figure]:
    """Type two lines at each place, then the same for a baseline. ``pace`` 2: twice as fast."""
    places = typing_places(bench.repeats, pace=pace)
    options = {"model": bench.options.model, "decoding": bench.options.decoding}
    async with serving(bench.address.as_environment()) as server:
        await server.open_session(options, asks_for_drafts=True)
        session = _TypingSession(server=server)
        for number, place in enumerate(places):
            await _type(session, f"file:///bench/{number}/{place.file}", place)
    fates = session.fates
    return [
        *figures_of(
            fates,
            key="typing",
            who="",
            way="through the language server",
            num_places=len(places),
            draft="of a draft, the settled beginning",
        ),
        Figure(
            name="typing_read_tokens",
            words="context tokens read for a key",
            value=sum(fates.read) / max(1, len(fates.read)),
            unit="tokens",
            method=f"mean over the {len(fates.read)} requests that reached the engine",
        ),
        *await measure_typing_baseline(bench, places),
    ]


async def _type(session: _TypingSession, uri: str, place: TypingPlace) -> None:
    """Open the file without the lines and type them."""
    server, before = session.server, place.before
    opened = {"uri": uri, "languageId": "python", "version": 0, "text": before + place.after}
    server.notify("textDocument/didOpen", {"textDocument": opened})
    typed = ""
    for version, key in enumerate(place.keys, start=1):
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
        await _ask(session, request, key.pause_s)
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


async def _ask(session: _TypingSession, request: object, pause_s: float) -> None:
    """Ask until the next key; if the answer comes first, wait for the key."""
    started, fates = time.perf_counter(), session.fates
    fates.num_keys += 1
    answered = await session.server.answered_within(pause_s, _METHOD, request)
    notifications = session.server.taken()
    shown_s = [
        draft.at - started
        for draft in notifications
        if draft.method == DRAFT and settled_text(draft.params).strip()
    ]
    if answered is not None:
        fates.answered_ms.append(1000 * answered.seconds)
        if has_text(answered.result):
            fates.text_ms.append(1000 * answered.seconds)
            shown_s.append(answered.seconds)
    if shown_s and min(shown_s) <= pause_s:
        fates.shown_ms.append(1000 * min(shown_s))
    _note_reading(session, notifications)
    await asyncio.sleep(max(0.0, pause_s - (time.perf_counter() - started)))


def settled_text(draft: Any) -> str:
    """Return a draft's text up to its first token that is not settled."""
    text = ""
    for token in draft["tokens"]:
        if not token["settled"]:
            break
        text += token["text"]
    return text


def has_text(result: Any) -> bool:
    """Return whether the answer to an inline completion request has text."""
    items = result["items"] if isinstance(result, dict) else result or []
    return any(item["insertText"] for item in items)


def _note_reading(session: _TypingSession, notifications: Sequence[Notified]) -> None:
    for status in (it.params for it in notifications if it.method == STATUS):
        if status["last"] == session.last:
            continue  # every status repeats it
        session.last = status["last"]
        if session.last is not None and session.last["tokensRead"] is not None:
            session.fates.read.append(session.last["tokensRead"])
