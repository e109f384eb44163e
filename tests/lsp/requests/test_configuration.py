"""Settings from initialize, on request and as they change."""

from pathlib import Path

from editor_clients import (
    ask_inline,
    connected,
    editing,
    inline_items,
    log_of,
    neovim,
    open_document,
    vscode,
)
from engine_watch import engine_once, until
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server

from intarsia.engine.ipc.address import Address

FAST = {"debounceMs": 0}
COMMAND = {"text": "{alternative}"}


async def num_invoked(client: LanguageClient, uri: str) -> int:
    return len(await inline_items(client, ask_inline(uri, 0, 4, is_invoked=True)))


async def until_num_invoked(client: LanguageClient, uri: str, wanted: int) -> None:
    """Settings that the server has to ask for apply a little after the notification."""

    async def is_so() -> bool:
        return await num_invoked(client, uri) == wanted

    await until(is_so)


def changed(settings: object) -> types.DidChangeConfigurationParams:
    return types.DidChangeConfigurationParams(settings=settings)


async def test_the_client_is_asked_for_its_settings(runtime: Address) -> None:
    async with editing(
        vscode(),
        runtime,
        server=rule_server(**COMMAND),
        options={**FAST, "maxCandidates": 1},
        configuration={"maxCandidates": 2},
    ) as client:
        uri = open_document(client, "a.py", "y = ")
        await until_num_invoked(client, uri, 2)
        client.set_configuration({"maxCandidates": 4}, section="intarsia")
        client.workspace_did_change_configuration(changed(None))
        await until_num_invoked(client, uri, 4)


async def test_settings_that_are_sent_apply_where_the_client_cannot_be_asked(
    runtime: Address,
) -> None:
    who = neovim()
    assert who.capabilities.workspace is not None
    who.capabilities.workspace.configuration = False
    server = rule_server(**COMMAND)
    async with editing(who, runtime, server=server, options={"maxCandidates": 1}) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await num_invoked(client, uri) == 1
        client.workspace_did_change_configuration(changed({"intarsia": {"maxCandidates": 2}}))
        assert await num_invoked(client, uri) == 2
        client.workspace_did_change_configuration(changed({"maxCandidates": 3}))
        assert await num_invoked(client, uri) == 3
        client.workspace_did_change_configuration(changed({}))
        assert await num_invoked(client, uri) == 1


async def test_switched_off_means_no_suggestion_and_no_engine(runtime: Address) -> None:
    server = rule_server(**COMMAND)
    async with editing(vscode(), runtime, server=server, options={"enabled": False}) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await num_invoked(client, uri) == 0
        assert "switched off" in log_of(client)
    assert not runtime.pid_path.exists()


async def test_each_bad_option_is_logged_once_and_the_rest_applies(runtime: Address) -> None:
    options = {"debounceMs": "soon", "colour": "red", "maxCandidates": 2}
    server = rule_server(**COMMAND)
    async with editing(vscode(), runtime, server=server, options=options) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await num_invoked(client, uri) == 2
        assert log_of(client).count("option 'debounceMs' keeps its default") == 1
        assert log_of(client).count("unknown option 'colour'") == 1


async def test_options_that_are_no_object_are_logged(runtime: Address) -> None:
    who = vscode()
    options = ["maxCandidates", 2]
    server = rule_server(**COMMAND)
    async with editing(who, runtime, server=server, options=options) as client:  # type: ignore[arg-type]
        uri = open_document(client, "a.py", "y = ")
        assert await num_invoked(client, uri) == 3
        assert "ignored the options: they must be an object" in log_of(client)


async def test_another_model_is_loaded_at_once(runtime: Address) -> None:
    who = neovim()
    assert who.capabilities.workspace is not None
    who.capabilities.workspace.configuration = False
    async with editing(who, runtime, server=rule_server(**COMMAND)) as client:
        await engine_once(runtime, lambda status: status.state == "ready")
        client.workspace_did_change_configuration(changed({"model": "other"}))
        await engine_once(runtime, lambda status: status.model == "other")


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
            open_document(client, f"{uri}/a.py", "y = ")
            for uri in (one.uri, two.uri, three.uri, tmp_path.as_uri())
        )
        await until_num_invoked(client, in_one, 0)
        for uri in (in_two, in_three, outside):
            assert await num_invoked(client, uri) == 3
        client.set_configuration({"debounceMs": 0}, section="intarsia", scope_uri=one.uri)
        client.workspace_did_change_configuration(changed(None))
        await until_num_invoked(client, in_one, 3)
        event = types.WorkspaceFoldersChangeEvent(added=[three], removed=[])
        client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        await until_num_invoked(client, in_three, 0)
        assert await num_invoked(client, in_one) == 3
        await client.shutdown_session()


async def test_a_client_that_answers_for_the_window_alone_is_taken_at_its_word(
    runtime: Address, tmp_path: Path
) -> None:
    who = vscode()
    who.workspace_folders = [folder(tmp_path)]
    async with connected(runtime, rule_server(**COMMAND)) as client:
        client.get_configuration = lambda *, section=None, scope_uri=None: (  # type: ignore[method-assign]
            None if scope_uri else {"debounceMs": 0, "maxCandidates": 2}
        )
        await client.initialize_session(who)
        uri = open_document(client, f"{tmp_path.as_uri()}/a.py", "y = ")
        await until_num_invoked(client, uri, 2)
        await client.shutdown_session()


async def test_the_empty_table_of_lua_is_no_bad_setting(runtime: Address) -> None:
    async with editing(
        vscode(), runtime, server=rule_server(**COMMAND), configuration=[]
    ) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await num_invoked(client, uri) == 3
        assert "ignored the options" not in log_of(client)


def folder(path: Path) -> types.WorkspaceFolder:
    path.mkdir(exist_ok=True)
    return types.WorkspaceFolder(path.as_uri(), path.name)
