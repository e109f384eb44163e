"""The index of the project is damaged, killed or flooded: fills go on without it, or with it."""

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psutil
import pytest
from engine_watch import until
from faults.editor import BY_DIGEST, Editor, editor_on
from faults.fault_server import fault_server_command
from faults.ground import PATIENCE_S, Ground
from lsprotocol import types

SERVER = fault_server_command(rules=[BY_DIGEST])
NUM_CHANGED = 30_000


def index_processes(ground: Ground) -> list[psutil.Process]:
    """Return the processes that servers have started: not those that parse for these."""
    found = ground.processes("intarsia.workspace")
    return [it for it in found if it.parent() not in found]


@asynccontextmanager
async def editor_in_project(ground: Ground) -> AsyncIterator[Editor]:
    """Open a file that imports from another one of the project."""
    (ground.project / "b.py").write_text("def found_by_index(argument: int): pass\n")
    folder = types.WorkspaceFolder(ground.project.as_uri(), "project")
    name = (ground.project / "a.py").as_uri()
    options = {"deadlineMs": 60_000}
    async with editor_on(ground, SERVER, options=options, folders=[folder], name=name) as editor:
        editor.write("from b import found_by_index")
        yield editor


async def until_index_answers(editor: Editor) -> None:
    """Ask, and wait until code that the index has found would be shown to the model."""
    await editor.fill("found_by_index(")
    place = {"line": editor.end().line, "character": editor.end().character}
    arguments = {"textDocument": {"uri": editor.uri}, "position": place}
    command = types.ExecuteCommandParams("intarsia.context", [arguments])

    async def is_shown() -> bool:
        seen = await editor.client.workspace_execute_command_async(command)
        return "argument: int" in seen["text"]

    await until(is_shown, PATIENCE_S)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
async def test_its_process_is_stopped(ground: Ground) -> None:
    """A question without an answer shows that it hangs: it is killed, and another one started."""
    async with editor_in_project(ground) as editor:
        await until_index_answers(editor)
        (before,) = index_processes(ground)
        before.send_signal(signal.SIGSTOP)
        assert await editor.is_in_step()

        async def is_replaced() -> bool:
            await editor.is_in_step()
            return before not in index_processes(ground)

        await until(is_replaced, PATIENCE_S)
        await until_index_answers(editor)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
async def test_its_process_is_stopped_when_the_editor_ends(ground: Ground) -> None:
    """The ground finds no process at the end, so the server has killed it."""
    async with editor_in_project(ground) as editor:
        await until_index_answers(editor)
        (process,) = index_processes(ground)
        process.send_signal(signal.SIGSTOP)


async def test_a_checkout_changes_thirty_thousand_files_at_once(ground: Ground) -> None:
    async with editor_in_project(ground) as editor:
        await until_index_answers(editor)
        # In folders that are walked whole, should a busy machine have the index started again.
        folders = [ground.project / name for name in ("first", "second", "third")]
        for folder in folders:
            folder.mkdir()
        paths = [folders[number % 3] / f"m{number}.py" for number in range(NUM_CHANGED)]
        for path in paths:
            path.write_text("a = 1\n")
        created = types.FileChangeType.Created
        changes = [types.FileEvent(path.as_uri(), created) for path in paths]
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))
        assert await editor.is_in_step()
        await until_index_answers(editor)
