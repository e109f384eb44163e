"""Runs the sessions of the set ``typing`` through the language server, and counts what is shown.

After each key the server is asked as an editor asks, and its answer is waited for: the figures do
not depend on the machine's speed. The user accepts what is right and types everything else. Where
the file's project is opened, the user takes time for it all, in which the server reads.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

import msgspec

from intarsia_research.benchmark.typing import DRAFT, settled_text
from intarsia_research.evaluation.intervals import Estimate, Resampling
from intarsia_research.evaluation.server_process import ServerProcess, serving
from intarsia_research.evaluation.systems.language_server import position_of
from intarsia_research.replay.harm import why_harmful
from intarsia_research.replay.sessions import Session
from intarsia_research.replay.typist import Change, Typist, num_keys

MIN_CHARS_ACCEPTED = 3
"""A shorter suggestion is typed: reading it takes longer."""
MIN_CHARS_WANTED = 4
"""Where less is left of a line, nothing is expected."""

OPENED_S, LOOK_S, KEY_S = 3.0, 1.0, 0.1
"""What a user takes to look at a place of a file that was just opened, at what is shown at a new
line or after accepting, and for a key: the time that the server has to read the project."""

LOG, NO_SUGGESTION = "window/logMessage", "no suggestion: "

CLIENTS: Mapping[str, Mapping[str, Any]] = {
    "VS Code": {"clientInfo": {"name": "Visual Studio Code", "version": "1.122.0"}},
    "Neovim": {"clientInfo": {"name": "Neovim", "version": "0.11.4"}},
}


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One text that was on show, as it is written into the saved run."""

    session: str
    line: str  # up to the cursor
    wanted: str  # what the user writes next, to the end of the line
    text: str
    verdict: str  # "right", "other", or what it breaks


class Silence(msgspec.Struct, frozen=True, kw_only=True):
    """One request without an answer where more was wanted."""

    session: str
    line: str  # up to the cursor
    wanted: str
    reason: str  # the server's, with its numbers


@dataclass(kw_only=True, slots=True)
class Counts:
    """What was counted, of one file, of a language or of all."""

    keys: int = 0
    keys_without: int = 0
    asked: int = 0
    right: int = 0
    other: int = 0
    withdrawn: int = 0
    harmful: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)  # where more was wanted, by reason

    @property
    def shown(self) -> int:
        return self.right + self.other + self.harmful.total()

    def add(self, more: "Counts") -> None:
        for name in ("keys", "keys_without", "asked", "right", "other", "withdrawn"):
            setattr(self, name, getattr(self, name) + getattr(more, name))
        self.harmful += more.harmful
        self.silent += more.silent


@dataclass(kw_only=True, slots=True)
class Replay:
    """The counts by language and file, and all that was shown or not."""

    files: dict[str, dict[str, Counts]] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)
    silences: list[Silence] = field(default_factory=list)

    @property
    def all_files(self) -> list[Counts]:
        return [counts for files in self.files.values() for counts in files.values()]

    @property
    def whole(self) -> Counts:
        return total(self.all_files)


def total(files: Iterable[Counts]) -> Counts:
    """Return the sums over files."""
    counts = Counts()
    for one in files:
        counts.add(one)
    return counts


def keys_saved(files: Sequence[Counts]) -> Estimate | None:
    """Return the share of keys that suggestions save, resampled by file.

    The keys of one file are not independent: a single suggestion may save a third of them.
    """
    resampling = Resampling([str(number) for number in range(len(files))])
    without = [counts.keys_without for counts in files]
    return resampling.ratio([counts.keys_without - counts.keys for counts in files], without)


def more_keys_saved(pairs: Sequence[tuple[Counts, Counts]]) -> Estimate | None:
    """Return how much larger a share the second run saved of the same keys, resampled by file."""
    resampling = Resampling([str(number) for number in range(len(pairs))])
    without = [first.keys_without for first, _ in pairs]
    return resampling.ratio([first.keys - second.keys for first, second in pairs], without)


async def replay(
    sessions: Sequence[Session],
    options: Mapping[str, Any],
    on_session: Callable[[int], None] = lambda number: None,
    environment: Mapping[str, str] | None = None,
    *,
    reads_project: bool = False,
) -> Replay:
    """Type all sessions; the clients take turns. Raises ServerFault.

    With ``reads_project`` each file is opened in its package, else alone.
    """
    result = Replay()
    for turn, client in enumerate(CLIENTS.values()):
        async with serving(environment) as server:
            settings = {
                "debounceMs": 0,
                "deadlineMs": 60_000,
                "nextEdit": "off",
                "fillAhead": "always" if reads_project else "off",  # it lets the server read ahead
                **options,
            }
            await server.open_session(settings, asks_for_drafts=True, client=client)
            for number, session in enumerate(sessions):
                if number % len(CLIENTS) == turn:
                    await _open_and_type(server, session, result, reads_project=reads_project)
                    on_session(number)
    return result


async def _open_and_type(
    server: ServerProcess, session: Session, result: Replay, *, reads_project: bool
) -> None:
    uri = f"file:///typing/{quote(session.name, safe='')}{PurePosixPath(session.path).suffix}"
    if reads_project:
        server.open_folder(session.root)
        uri = (session.root.resolve() / session.path).as_uri()
    opened = session.before + session.after
    document = {"uri": uri, "languageId": session.language, "version": 0, "text": opened}
    server.notify("textDocument/didOpen", {"textDocument": document})
    await _type(server, session, uri, result, takes_time=reads_project)
    server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


async def _type(
    server: ServerProcess, session: Session, uri: str, result: Replay, *, takes_time: bool
) -> None:
    counts = result.files.setdefault(session.language, {}).setdefault(session.file, Counts())
    typist = Typist(before=session.before, goal=session.goal, after=session.after)
    version = 0
    if not session.asks_only:
        counts.keys_without += num_keys(session.before, session.goal, session.after)
    pause_s = OPENED_S
    while typist.goal:
        item, reason = await _ask(server, typist, uri, counts)
        if takes_time:
            await asyncio.sleep(pause_s)
            if pause_s > KEY_S:  # what is shown may be revised meanwhile
                item, reason = await _ask(server, typist, uri, counts)
        before = typist.document
        wanted = typist.goal.partition("\n")[0]
        if item is None and len(wanted.strip()) >= MIN_CHARS_WANTED:
            counts.silent[_in_general(reason)] += 1
            line = _line(typist)
            told = Silence(session=session.name, line=line, wanted=wanted, reason=reason)
            result.silences.append(told)
        if item is not None and _judge(item, typist, session, counts, result):
            change = typist.accept(item["insertText"], _removed(item, typist))
            pause_s = LOOK_S
        elif session.asks_only:
            break
        else:
            pause_s = LOOK_S if typist.goal.startswith("\n") else KEY_S
            change = typist.press()
        counts.keys += not session.asks_only
        version += 1
        _send(server, uri, version, before, change)
        if session.asks_only:
            break


async def _ask(server: ServerProcess, typist: Typist, uri: str, counts: Counts) -> tuple[Any, str]:
    """Return the answer's item, None if nothing is shown, and why; count withdrawn drafts."""
    server.taken()
    counts.asked += 1
    position = position_of(typist.document, len(typist.before))
    params = {"textDocument": {"uri": uri}, "position": position, "context": {"triggerKind": 2}}
    answer = await server.request("textDocument/inlineCompletion", params)
    items = (answer["items"] if isinstance(answer, dict) else answer) or []
    item = items[0] if items and items[0]["insertText"] else None
    notes = server.taken()
    drafts = [
        settled_text(note.params)
        for note in notes
        if note.method == DRAFT and not note.params.get("revised")
    ]
    draft = next((text for text in reversed(drafts) if text.strip()), "")
    final = item["insertText"] if item else ""
    counts.withdrawn += bool(draft) and not final.startswith(draft.rstrip())
    told = [note.params["message"] for note in notes if note.method == LOG]
    reasons = [it.removeprefix(NO_SUGGESTION) for it in told if it.startswith(NO_SUGGESTION)]
    return item, reasons[-1] if reasons else "no reason"


def _judge(item: Any, typist: Typist, session: Session, counts: Counts, result: Replay) -> bool:
    """Count what is on show; return whether the user accepts it."""
    text, removed = item["insertText"], _removed(item, typist)
    harm = why_harmful(typist.document, len(typist.before), text, removed)
    is_right = typist.is_right(text, removed)
    verdict = "right" if is_right else harm or "other"
    result.shown.append(
        Shown(
            session=session.name,
            line=_line(typist),
            wanted=typist.goal.partition("\n")[0],
            text=text,
            verdict=verdict,
        )
    )
    if is_right:
        counts.right += 1
    elif harm:
        counts.harmful[harm] += 1
    else:
        counts.other += 1
    return is_right and len(text.strip()) >= MIN_CHARS_ACCEPTED


def _line(typist: Typist) -> str:
    """Return the cursor's line up to the cursor."""
    return typist.before[typist.before.rfind("\n") + 1 :]


def _removed(item: Any, typist: Typist) -> int:
    """Return how many characters after the cursor an item replaces on the cursor's line."""
    found = item.get("range")
    if found is None:
        return 0
    at = position_of(typist.document, len(typist.before))
    return max(0, int(found["end"]["character"]) - at["character"])


def _send(server: ServerProcess, uri: str, version: int, before: str, change: Change) -> None:
    content = {
        "range": {
            "start": position_of(before, change.start),
            "end": position_of(before, change.end),
        },
        "text": change.text,
    }
    document = {"uri": uri, "version": version}
    server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [content]})


def _in_general(reason: str) -> str:
    """Return a reason without its numbers."""
    return reason.partition(":")[0].partition("(")[0].strip()
