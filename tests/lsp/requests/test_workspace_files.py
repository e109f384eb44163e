"""Changes of files on disk, which may come in floods: after a checkout or an installation."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from engine_watch import until
from lsprotocol import types

from intarsia.lsp import settings_in_force
from intarsia.lsp.documents import Folder
from intarsia.lsp.method_table import build_server
from intarsia.lsp.project.index_connection import IndexConnection
from intarsia.lsp.requests import workspace_files
from intarsia.lsp.requests.configuration import did_change_workspace_folders, load_configuration
from intarsia.lsp.requests.workspace_files import did_change_watched_files, watch_files
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.settings import Settings

NUM_FILES = 3_000


async def test_a_flood_of_changed_files_holds_up_no_other_request() -> None:
    server = build_server()
    told: list[str] = []
    server.session.feature(IndexConnection).files_changed = told.extend
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
    server.session.start_with(None, [Folder(uri=tmp_path.as_uri())])
    await server.session.close()
    server.session.feature(IndexConnection).follow(
        server.session, has_file_events=True
    )  # the client's answer came late
    await asyncio.sleep(0.2)
    has_folders = server.session.feature(IndexConnection).has_folders
    await server.session.close()
    assert not has_folders


class SlowClient:
    """Answers requests for settings, by the folder's URI, once it is told to."""

    def __init__(self, server, monkeypatch, *, opens_index=True) -> None:
        self.settings: Mapping[str, object] = {}
        self.answers = asyncio.Event()
        self.indexed: list[Mapping[Path, Settings]] = []
        workspace = types.WorkspaceClientCapabilities(configuration=True)
        capabilities = types.ClientCapabilities(workspace=workspace)
        monkeypatch.setattr(IntarsiaServer, "client_capabilities", capabilities)
        monkeypatch.setattr(server, "workspace_configuration_async", self._answer)
        monkeypatch.setattr(
            server.session.feature(IndexConnection),
            "open",
            lambda roots, **_: self.indexed.append(roots),
        )
        if opens_index:
            server.session.feature(IndexConnection).follow(server.session, has_file_events=False)

    async def _answer(self, params: types.ConfigurationParams) -> list[object]:
        await self.answers.wait()
        return [self.settings.get(item.scope_uri or "") for item in params.items]


def change_folders(server, *, added=(), removed=()) -> None:
    opened, closed = (
        [types.WorkspaceFolder(it.uri, "name") for it in each] for each in (added, removed)
    )
    event = types.WorkspaceFoldersChangeEvent(added=opened, removed=closed)
    did_change_workspace_folders(server, types.DidChangeWorkspaceFoldersParams(event))


async def test_an_added_folder_is_first_indexed_under_its_own_settings(monkeypatch):
    server, folder = build_server(), Folder(uri="file:///work/one")
    client = SlowClient(server, monkeypatch)
    client.settings = {folder.uri: {"exclude": ["*.sql"]}}
    change_folders(server, added=(folder,))
    await asyncio.sleep(0.01)
    client.answers.set()
    await server.session.settings_requests.settled()
    found = [it.exclude for roots in client.indexed for it in roots.values()]
    assert found == [("*.sql",)]


async def test_a_folder_that_is_closed_before_its_settings_come_stays_closed(monkeypatch):
    server, folder = build_server(), Folder(uri="file:///work/one")
    client = SlowClient(server, monkeypatch)
    change_folders(server, added=(folder,))
    await asyncio.sleep(0.01)
    change_folders(server, removed=(folder,))
    client.answers.set()
    await server.session.settings_requests.settled()
    assert not server.session.in_force.folders
    assert not any(client.indexed)


async def test_a_client_that_never_sends_settings_gets_an_index_by_the_initial_options(
    monkeypatch, caplog
):
    monkeypatch.setattr(settings_in_force, "LONGEST_WAIT_S", 0.05)
    server, folder = build_server(), Folder(uri="file:///work/one")
    client = SlowClient(server, monkeypatch, opens_index=False)
    server.session.start_with({"exclude": ["*.first"]}, [folder])
    async with asyncio.timeout(5):
        await load_configuration(server)
        await watch_files(server)
    assert excluded(client) == [("*.first",)]
    assert "the client does not send its settings" in caplog.text
    client.settings = {folder.uri: {"exclude": ["*.late"]}}
    client.answers.set()  # it does, after all
    await until(lambda: excluded(client)[-1] == ("*.late",))
    assert not server.session.settings_requests.is_open


async def test_settings_that_come_late_load_the_model_that_they_name(monkeypatch):
    monkeypatch.setattr(settings_in_force, "LONGEST_WAIT_S", 0.05)
    server, loaded = build_server(), list[str | None]()

    async def load(model: str | None) -> None:
        loaded.append(model)

    monkeypatch.setattr(server.session.engine, "preload", load)
    client = SlowClient(server, monkeypatch, opens_index=False)
    client.settings = {"": {"model": "late"}}
    await load_configuration(server)
    client.answers.set()
    await until(lambda: loaded == ["late"])


async def test_an_added_folder_without_settings_is_indexed_after_a_while(monkeypatch):
    monkeypatch.setattr(settings_in_force, "LONGEST_WAIT_S", 0.05)
    server = build_server()
    client = SlowClient(server, monkeypatch)
    change_folders(server, added=(Folder(uri="file:///work/one"),))
    assert not any(client.indexed)
    await until(lambda: any(client.indexed))


async def test_an_answer_that_is_missing_does_not_delay_the_next_one(monkeypatch):
    monkeypatch.setattr(settings_in_force, "LONGEST_WAIT_S", 0.05)
    requests = settings_in_force.SettingsRequests()
    missing = requests.begin()
    await requests.settled()
    monkeypatch.setattr(settings_in_force, "LONGEST_WAIT_S", 60)
    number = requests.begin()
    requests.end(missing)  # it comes late
    assert requests.is_open
    requests.end(number)
    async with asyncio.timeout(5):
        await requests.settled()


async def test_a_client_that_does_not_say_whether_it_watches_files_gets_an_index(monkeypatch):
    monkeypatch.setattr(workspace_files, "LONGEST_WAIT_S", 0.05)
    server = build_server()
    client = SlowClient(server, monkeypatch, opens_index=False)
    watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    workspace = types.WorkspaceClientCapabilities(did_change_watched_files=watching)
    capabilities = types.ClientCapabilities(workspace=workspace)
    monkeypatch.setattr(IntarsiaServer, "client_capabilities", capabilities)
    never = asyncio.Event()
    monkeypatch.setattr(server, "client_register_capability_async", lambda _: never.wait())
    server.session.start_with({}, [Folder(uri="file:///work/one")])
    async with asyncio.timeout(5):
        await watch_files(server)
    assert any(client.indexed)
    never.set()


def excluded(client: SlowClient) -> list[object]:
    return [settings.exclude for roots in client.indexed for settings in roots.values()]
