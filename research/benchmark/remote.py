"""Measure fills through a llama.cpp server of the user's: what our side adds, and what is reread.

Needs a model ``remote:NAME``. Its server is on this machine and has no other users.
"""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

from intarsia.engine.errors import RemoteError
from intarsia.engine.ipc.client import EngineClient
from intarsia.engine.ipc.messages import Fill
from intarsia.engine.remote.settings.edit import add_remote
from intarsia.engine.remote.settings.model_name import remote_name
from intarsia.engine.remote.settings.remotes import Remote, find_remote
from intarsia.infill.filling.plan import plan_at_cursor
from intarsia.infill.languages import language_for_id
from intarsia.infill.suggestion import NoSuggestion
from intarsia_research.benchmark.editor.typing_keys import TypingPlace, typing_places
from intarsia_research.benchmark.figures import Bench, Figure, percentile
from intarsia_research.benchmark.fresh_engine import folder_variable, fresh_engine
from intarsia_research.benchmark.timed_relay import ServerTime, timed_relay
from intarsia_research.errors import EvaluationFault
from intarsia_research.peers.llama_vim import ask_as_llama_vim

_MOST_PLACES = 2
_KEYS_A_REQUEST = 8
_REPEATS = 20
_PYTHON = language_for_id("python")

_Cursor: TypeAlias = tuple[str, str]
"""The text before the cursor, and after it."""


async def measure_remote(bench: Bench) -> Sequence[Figure]:
    """Measure typing, and repeated fills; no figures for a model of this machine."""
    name = remote_name(bench.options.model or "")
    if name is None:
        return []
    try:
        remote = find_remote(name)
        places = [_cursors(place) for place in typing_places(min(bench.repeats, _MOST_PLACES))]
        ours = [await _read_by_us(bench, place) for place in places]
        vim = [await asyncio.to_thread(_read_by_llama_vim, remote, place) for place in places]
        added_ms = await measure_added(
            bench, remote, [cursor for place in places for cursor in place]
        )
    except RemoteError as error:
        raise EvaluationFault(str(error)) from error
    return [*_reading(ours, vim), *_added(added_ms)]


def _cursors(place: TypingPlace) -> Sequence[_Cursor]:
    """Return texts before and after the cursor while two lines are typed."""
    typed, found = "", []
    for number, key in enumerate(place.keys):
        typed = typed + key.text if key.text else typed[:-1]
        if number % _KEYS_A_REQUEST == 0:
            found.append((place.before + typed, place.after))
    return found


async def _read_by_us(bench: Bench, place: Sequence[_Cursor]) -> Sequence[int]:
    """Return the prompt tokens that the server read for each cursor of a place but the first."""
    requests = [_request(bench, cursor) for cursor in place]
    fills = [await bench.client.fill(it) for it in requests if it is not None]
    return [filled.num_prefilled for filled in fills[1:]]


def _read_by_llama_vim(remote: Remote, place: Sequence[_Cursor]) -> Sequence[int]:
    return [ask_as_llama_vim(remote, *cursor) for cursor in place][1:]


def _request(bench: Bench, cursor: _Cursor) -> Fill | None:
    """Return what an editor asks our engine, None where there is no hole."""
    before, after = cursor
    plan = plan_at_cursor(before + after, len(before), _PYTHON, bench.options)
    return None if isinstance(plan, NoSuggestion) else plan.request(bench.options)


async def measure_added(
    bench: Bench, remote: Remote, cursors: Sequence[tuple[str, str]]
) -> Sequence[float]:
    """Return what repeated fills took beyond the server's time, in milliseconds.

    ``cursors``: texts before and after each. The first fill of each, in which the server reads its
    place, does not count.
    """
    requests = [it for cursor in cursors if (it := _request(bench, cursor)) is not None]
    added = list[float]()
    async with _relayed_engine(bench, remote) as (client, server_time):
        for request in requests:
            await client.fill(request)
            for _ in range(_REPEATS):
                server_s, started = server_time.total_s, time.perf_counter()
                await client.fill(request)
                waited_s = time.perf_counter() - started
                added.append(1000 * (waited_s - (server_time.total_s - server_s)))
    return added


@asynccontextmanager
async def _relayed_engine(
    bench: Bench, remote: Remote
) -> AsyncIterator[tuple[EngineClient, ServerTime]]:
    """Yield a client of an engine that reaches the server through a relay, and its time."""
    address = remote.address
    if address.is_https:
        raise EvaluationFault(f"remote:{remote.name} must be http on this machine to be timed")
    with (
        timed_relay(address.host, address.port) as (port, server_time),
        tempfile.TemporaryDirectory(prefix="intarsia-") as folder,
    ):
        values = _settings_of(remote) | {"url": f"http://127.0.0.1:{port}{address.base_path}"}
        add_remote(remote.name, values, Path(folder) / "remotes.toml")
        with folder_variable("INTARSIA_CONFIG_DIR", Path(folder)):
            async with fresh_engine(bench.launch) as (client, _):
                yield client, server_time


def _settings_of(remote: Remote) -> dict[str, str | bool | float]:
    files = {"tokenizer": remote.tokenizer, "key_file": remote.key_file}
    return {
        "timeout_s": remote.timeout_s,
        **({"model": remote.model} if remote.model else {}),
        **{name: str(path) for name, path in files.items() if path is not None},
    }


def _reading(ours: Sequence[Sequence[int]], vim: Sequence[Sequence[int]]) -> Sequence[Figure]:
    read = [[num for place in places for num in place] for places in (ours, vim)]
    means = [sum(nums) / len(nums) for nums in read]
    method = (
        f"mean of {len(read[0])} requests, at every {_KEYS_A_REQUEST}th key of two typed lines, "
        "after the first one of each place"
    )
    return [
        Figure(
            name="remote_read_tokens",
            words="prompt tokens read for a key, asked by us",
            value=means[0],
            unit="tokens",
            method=method,
        ),
        Figure(
            name="remote_read_llama_vim_tokens",
            words="prompt tokens read for a key, asked as by llama.vim",
            value=means[1],
            unit="tokens",
            method=f"{method}; /infill with its default settings, no other files",
        ),
        Figure(
            name="remote_read_ratio",
            words="ours over llama.vim's",
            value=means[0] / means[1],
            unit="x",
            method="of the two rows above",
        ),
    ]


def _added(added_ms: Sequence[float]) -> Sequence[Figure]:
    return [
        Figure(
            name=f"remote_added_p{percent}_ms",
            words=f"time beyond the server's own, p{percent}",
            value=percentile(added_ms, percent) if added_ms else None,
            unit="ms",
            method=f"{len(added_ms)} repeated fills: our client, our engine process, HTTP; without "
            "the time from request to the server's last byte, taken by a relay",
        )
        for percent in (50, 95)
    ]
