"""Settings from initialize, on request and as they change."""

from pathlib import Path

from editor_clients import Page, connected, editing, neovim, open_document, page, vscode
from engine_watch import engine_once, until
from lsprotocol import types
from rule_server import rule_server

from intarsia.engine.ipc.address import Address

COMMAND = {"text": "{alternative}"}


async def num_invoked(user: Page) -> int:
    return len(await user.shown(0, 4, is_invoked=True))


async def until_num_invoked(user: Page, wanted: int) -> None:
    """Settings that the server has to ask for apply a little after the notification."""

    async def is_so() -> bool:
        return await num_invoked(user) == wanted

    await until(is_so)


def change(user: Page, settings: object) -> None:
    params = types.DidChangeConfigurationParams(settings=settings)
    user.client.workspace_did_change_configuration(params)


async def test_the_client_is_asked_for_its_settings(runtime: Address) -> None:
    async with editing(
        vscode(),
        runtime,
        server=rule_server(**COMMAND),
        options={"debounceMs": 0, "maxCandidates": 1},
        configuration={"maxCandidates": 2},
    ) as client:
        user = Page(client, open_document(client, "a.py", "y = "))
        await until_num_invoked(user, 2)
        client.set_configuration({"maxCandidates": 4}, section="intarsia")
        change(user, None)
        await until_num_invoked(user, 4)
        client.set_configuration([], section="intarsia")  # the empty table of Lua
        change(user, None)
        await until_num_invoked(user, 1)
        assert "ignored the options" not in user.log


async def test_settings_that_are_sent_apply_where_the_client_cannot_be_asked(runtime):
    options, who = {"maxCandidates": 1}, neovim()
    who.capabilities.workspace.configuration = False
    async with page(runtime, "y = ", who=who, options=options, **COMMAND) as user:
        assert await num_invoked(user) == 1
        for settings, wanted in (
            ({"intarsia": {"maxCandidates": 2}}, 2),
            ({"maxCandidates": 3}, 3),
            ({}, 1),
        ):
            change(user, settings)
            assert await num_invoked(user) == wanted
        change(user, {"model": "other"})  # is loaded at once
        await engine_once(runtime, lambda status: status.model == "other")


async def test_switched_off_means_no_suggestion_and_no_engine(runtime: Address) -> None:
    async with page(runtime, "y = ", options={"enabled": False}, **COMMAND) as user:
        assert await num_invoked(user) == 0
        assert "switched off" in user.log
    assert not runtime.pid_path.exists()


async def test_each_bad_option_is_logged_once_and_the_rest_applies(runtime: Address) -> None:
    options = {"debounceMs": "soon", "colour": "red", "maxCandidates": 2}
    async with page(runtime, "y = ", options=options, **COMMAND) as user:
        assert await num_invoked(user) == 2
        assert user.log.count("option 'debounceMs' keeps its default") == 1
        assert user.log.count("unknown option 'colour'") == 1


async def test_options_that_are_no_object_are_logged(runtime: Address) -> None:
    options = ["maxCandidates", 2]
    server = rule_server(**COMMAND)
    async with editing(vscode(), runtime, server=server, options=options) as client:
        user = Page(client, open_document(client, "a.py", "y = "))
        assert await num_invoked(user) == 3
        assert "ignored the options: they must be an object" in user.log


async def test_each_folder_has_its_own_settings(runtime: Address, tmp_path: Path) -> None:
    one, two, three = (folder(tmp_path / name) for name in ("one", "two", "three"))
    who = vscode()
    who.workspace_folders = [one, two]
    async with connected(runtime, rule_server(**COMMAND)) as client:
        client.set_configuration({"debounceMs": 0}, section="intarsia")
        off = {"debounceMs": 0, "disabledLanguages": ["python"]}
        for scope in (one, three):
            client.set_configuration(off, section="intarsia", scope_uri=scope.uri)
        await client.initialize_session(who)
        in_one, in_two, in_three, outside = (
            Page(client, open_document(client, f"{uri}/a.py", "y = "))
            for uri in (one.uri, two.uri, three.uri, tmp_path.as_uri())
        )
        await until_num_invoked(in_one, 0)
        for user in (in_two, in_three, outside):
            assert await num_invoked(user) == 3
        client.set_configuration({"debounceMs": 0}, section="intarsia", scope_uri=one.uri)
        change(in_one, None)
        await until_num_invoked(in_one, 3)
        event = types.WorkspaceFoldersChangeEvent(added=[three], removed=[])
        client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        await until_num_invoked(in_three, 0)
        assert await num_invoked(in_one) == 3
        await client.shutdown_session()


async def test_a_client_that_answers_for_the_window_alone_is_taken_at_its_word(runtime, tmp_path):
    who = vscode()
    who.workspace_folders = [folder(tmp_path)]
    async with connected(runtime, rule_server(**COMMAND)) as client:
        client.get_configuration = lambda *, section=None, scope_uri=None: (
            None if scope_uri else {"debounceMs": 0, "maxCandidates": 2}
        )
        await client.initialize_session(who)
        user = Page(client, open_document(client, f"{tmp_path.as_uri()}/a.py", "y = "))
        await until_num_invoked(user, 2)
        await client.shutdown_session()


def folder(path: Path) -> types.WorkspaceFolder:
    path.mkdir(exist_ok=True)
    return types.WorkspaceFolder(path.as_uri(), path.name)
