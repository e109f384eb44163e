"""The index of the project is damaged, killed or flooded: fills go on without it, or with it."""

import sqlite3
from pathlib import Path

from engine_watch import until
from faults.editor import BY_DIGEST, Editor, editor_on
from faults.fault_server import fault_server_command
from faults.ground import PATIENCE_S, Ground
from lsprotocol import types

PATIENT = {"deadlineMs": 60_000}
SERVER = fault_server_command(rules=[BY_DIGEST])
NUM_CHANGED = 30_000


def folders(ground: Ground) -> list[types.WorkspaceFolder]:
    """Return the ground's project, with a file."""
    (ground.project / "b.py").write_text("def found_by_index(): pass\n")
    return [types.WorkspaceFolder(ground.project.as_uri(), "project")]


async def until_indexed(ground: Ground) -> Path:
    """Return the index's database once it has the project's file."""

    async def is_indexed() -> bool:
        return any(_num_files(path) for path in ground.cache.glob("index/*.sqlite"))

    await until(is_indexed, PATIENCE_S)
    return next(ground.cache.glob("index/*.sqlite"))


def _num_files(database: Path) -> int:
    try:
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    except sqlite3.Error:
        return 0
    try:
        return int(connection.execute("SELECT count(*) FROM files").fetchone()[0])
    except sqlite3.Error:
        return 0
    finally:
        connection.close()


async def indexed_once(ground: Ground) -> Path:
    """Return the database that an editor has left."""
    async with editor_on(ground, SERVER, options=PATIENT, folders=folders(ground)):
        return await until_indexed(ground)


async def works(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT, folders=folders(ground)) as editor:
        await until_indexed(ground)
        assert await editor.is_in_step()


async def test_its_file_is_damaged(ground: Ground) -> None:
    database = await indexed_once(ground)
    database.write_bytes(b"no database" * 1_000)
    await works(ground)


async def test_it_is_from_a_newer_version(ground: Ground) -> None:
    database = await indexed_once(ground)
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version = 1000")
    connection.commit()
    connection.close()
    await works(ground)


async def test_its_process_is_killed(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT, folders=folders(ground)) as editor:
        await until_indexed(ground)
        before = ground.processes("intarsia.workspace")
        for process in before:
            process.kill()
        assert await editor.is_in_step()

        async def is_back() -> bool:
            return bool(set(ground.processes("-m intarsia.workspace")) - set(before))

        await until(is_back, PATIENCE_S)
        assert await editor.is_in_step()


def _tell_changed(editor: Editor, paths: list[Path]) -> None:
    created = types.FileChangeType.Created
    changes = [types.FileEvent(path.as_uri(), created) for path in paths]
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))


async def test_a_checkout_changes_thirty_thousand_files_at_once(ground: Ground) -> None:
    async with editor_on(ground, SERVER, options=PATIENT, folders=folders(ground)) as editor:
        await until_indexed(ground)
        paths = [ground.project / f"m{number}.py" for number in range(NUM_CHANGED)]
        for path in paths:
            path.write_text("a = 1\n")
        _tell_changed(editor, paths)
        assert await editor.is_in_step()
        assert await editor.is_in_step()
