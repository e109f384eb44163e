"""Changes of files on disk, which may come in floods: after a checkout or an installation."""

import asyncio
from pathlib import Path

from lsprotocol import types

from intarsia.lsp.documents.folders import folder_at
from intarsia.lsp.features import build_server
from intarsia.lsp.requests.workspace_files import did_change_watched_files

NUM_FILES = 3_000


async def test_a_flood_of_changed_files_holds_up_no_other_request() -> None:
    server = build_server()
    told: list[str] = []
    server.session.index.files_changed = told.extend  # type: ignore[method-assign]
    changes = [
        types.FileEvent(f"file:///work/module{i}.py", types.FileChangeType.Changed)
        for i in range(NUM_FILES)
    ]
    telling = asyncio.create_task(
        did_change_watched_files(server, types.DidChangeWatchedFilesParams(changes))
    )
    num_turns = 0
    while not telling.done():
        await asyncio.sleep(0)
        num_turns += 1
    assert num_turns >= 20
    assert told == [f"/work/module{i}.py" for i in range(NUM_FILES)]


async def test_no_index_is_opened_after_the_end(tmp_path: Path) -> None:
    server = build_server()
    server.session.start_with(None, [folder_at(tmp_path)])
    await server.session.close()
    server.session.open_index(has_file_events=True)  # the client's answer came late
    await asyncio.sleep(0.2)
    has_folders = server.session.index.has_folders
    await server.session.close()
    assert not has_folders
