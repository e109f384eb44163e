"""The faults of a soak: those of ``tests/faults`` that can happen in the middle of work.

Each begins, lasts for some seconds at most, and ends; recovery is the product's own affair.
"""

import asyncio
import contextlib
import resource
import shutil
import signal
from collections.abc import Awaitable, Callable, Mapping

import psutil
from editor_clients import ask_inline
from lsprotocol import types
from soak.stage import Stage

from intarsia.engine.ipc.client import NoEngine
from intarsia.engine.ipc.stop import stop_engine

NUM_CHANGED = 1_000
LASTS_S = 5.0

RULES = [
    ["digest =", "{digest}"],
    ["crash =", "!crash"],
    ["wedge =", "!wedge"],
    ["spin =", "!spin"],
    ["device =", "!device"],
    ["memory =", "!memory"],
]
"""What the engine's model does after these words; a fault has a document of its own."""


async def engine_killed(stage: Stage) -> None:
    stage.signal(stage.processes("engine"), signal.SIGKILL)


async def engine_stopped(stage: Stage) -> None:
    """It is never continued: the product ends it."""
    stage.signal(stage.processes("engine"), signal.SIGSTOP)


async def engine_stopped_and_continued(stage: Stage) -> None:
    await stage.pause(stage.processes("engine"), LASTS_S)


async def engine_ended_by_command(stage: Stage) -> None:
    with contextlib.suppress(NoEngine):
        await stop_engine(stage.ground.address, name="soak")


async def all_asleep(stage: Stage) -> None:
    """The machine sleeps and wakes up."""
    await stage.pause(stage.ground.processes(), LASTS_S)


async def server_killed(stage: Stage) -> None:
    psutil.Process(stage.mortal().pid).kill()


async def input_closed(stage: Stage) -> None:
    """An editor ends without a shutdown, as one that was killed."""
    server = stage.mortal().client._server
    assert server is not None and server.stdin is not None
    server.stdin.close()


async def editor_deaf(stage: Stage) -> None:
    """A client that does not read, and goes on to type and to ask."""
    client = stage.anyone()
    server = client.client._server
    assert server is not None and server.stdout is not None
    transport = server.stdout._transport  # type: ignore[attr-defined]
    began_s = stage.asks.elapsed_s()
    transport.pause_reading()
    client.is_deaf = True
    try:
        await asyncio.sleep(2 * LASTS_S)
    finally:
        transport.resume_reading()
        client.is_deaf = False
        stage.asks.unread(client.number, stage.asks.elapsed_s() - began_s)


async def socket_removed(stage: Stage) -> None:
    stage.ground.address.socket_path.unlink(missing_ok=True)


async def runtime_folder_removed(stage: Stage) -> None:
    shutil.rmtree(stage.ground.address.directory, ignore_errors=True)


async def thousand_files_changed(stage: Stage) -> None:
    """A checkout of another branch: files are written, and then removed again."""
    paths = [stage.ground.project / f"m{number}.py" for number in range(NUM_CHANGED)]
    is_there = paths[0].exists()
    for path in paths:
        path.unlink() if is_there else path.write_text(f"def of_{path.stem}(): pass\n")
    kind = types.FileChangeType.Deleted if is_there else types.FileChangeType.Created
    events = [types.FileEvent(path.as_uri(), kind) for path in paths]
    for client in stage.clients:
        with contextlib.suppress(RuntimeError, OSError):
            client.client.workspace_did_change_watched_files(
                types.DidChangeWatchedFilesParams(events)
            )


async def cache_damaged(stage: Stage) -> None:
    """The first half of each file in the cache is overwritten, with processes that have it open."""
    for path in stage.ground.cache.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file():
                with path.open("r+b") as file:
                    file.write(b"damaged!" * (path.stat().st_size // 16))


async def index_killed(stage: Stage) -> None:
    stage.signal(stage.processes("index"), signal.SIGKILL)


async def index_stopped(stage: Stage) -> None:
    await stage.pause(stage.processes("index"), 2 * LASTS_S)


async def disk_full(stage: Stage) -> None:
    """No file may grow: each write fails, as on a full disk."""
    await stage.limit(stage.ground.processes(), resource.RLIMIT_FSIZE, 0, LASTS_S)


async def no_more_open_files(stage: Stage) -> None:
    for engine in stage.processes("engine"):
        await stage.limit([engine], resource.RLIMIT_NOFILE, engine.num_fds(), LASTS_S)


async def memory_exhausted(stage: Stage) -> None:
    for engine in stage.processes("engine"):
        most = engine.memory_info().vms + (1 << 29)
        limiting = asyncio.ensure_future(stage.limit([engine], resource.RLIMIT_AS, most, LASTS_S))
        await _fill(stage, "memory = ")
        await limiting


async def engine_crashes_in_a_fill(stage: Stage) -> None:
    await _fill(stage, "crash = ")


async def model_wedged(stage: Stage) -> None:
    await _fill(stage, "wedge = ")


async def model_spins(stage: Stage) -> None:
    await _fill(stage, "spin = ")


async def gpu_lost(stage: Stage) -> None:
    await _fill(stage, "device = ")


async def messages_for_nothing(stage: Stage) -> None:
    """An older version, a second opening, cancels of unknown requests, two closings."""
    client = stage.anyone()
    uri = (stage.ground.project / "for_nothing.py").as_uri()
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    change = types.TextDocumentContentChangePartial(start, "stale")
    item = types.TextDocumentItem(uri, "python", 1, "a = 1\n")
    identifier = types.VersionedTextDocumentIdentifier(uri=uri, version=-1)
    closing = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
    lsp = client.client
    for _ in range(2):
        lsp.text_document_did_open(types.DidOpenTextDocumentParams(item))
    lsp.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))
    for id in ("unknown", 7, -1):
        lsp.cancel_request(types.CancelParams(id))
    for _ in range(2):
        lsp.text_document_did_close(closing)


async def _fill(stage: Stage, line: str) -> None:
    """Have one client ask, in a document of its own, for a fill that breaks the engine."""
    client = stage.anyone()
    uri = (stage.ground.project / "fault.py").as_uri()
    item = types.TextDocumentItem(uri, "python", 1, line)
    with contextlib.suppress(RuntimeError, OSError):
        client.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        params = ask_inline(uri, 0, len(line), is_invoked=True)
        asking = client.client.text_document_inline_completion_async(params)
        await stage.asks.ask(client.number, asking)
        closing = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        client.client.text_document_did_close(closing)


Fault = Callable[[Stage], Awaitable[None]]

FAULTS: Mapping[str, Fault] = {
    fault.__name__: fault
    for fault in (
        engine_killed,
        engine_stopped,
        server_killed,
        socket_removed,
        editor_deaf,
        thousand_files_changed,
        cache_damaged,
        engine_stopped_and_continued,
        engine_ended_by_command,
        all_asleep,
        input_closed,
        runtime_folder_removed,
        index_killed,
        index_stopped,
        disk_full,
        no_more_open_files,
        memory_exhausted,
        engine_crashes_in_a_fill,
        model_wedged,
        model_spins,
        gpu_lost,
        messages_for_nothing,
    )
}
"""By name."""

OF_THE_RULE_ENGINE = frozenset(
    {"memory_exhausted", "engine_crashes_in_a_fill", "model_wedged", "model_spins", "gpu_lost"}
)
"""Faults that only the rule engine's model knows."""
