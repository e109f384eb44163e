"""Settings from initialize, on request and as they change."""

from editor_clients import ask_inline, editing, inline_items, log_of, neovim, open_document, vscode
from engine_watch import engine_once, until
from lsprotocol import types
from pytest_lsp import LanguageClient
from rule_server import rule_server_command

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
        command=rule_server_command(**COMMAND),
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
    command = rule_server_command(**COMMAND)
    async with editing(who, runtime, command=command, options={"maxCandidates": 1}) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await num_invoked(client, uri) == 1
        client.workspace_did_change_configuration(changed({"intarsia": {"maxCandidates": 2}}))
        assert await num_invoked(client, uri) == 2
        client.workspace_did_change_configuration(changed({"maxCandidates": 3}))
        assert await num_invoked(client, uri) == 3
        client.workspace_did_change_configuration(changed({}))
        assert await num_invoked(client, uri) == 1


async def test_switched_off_means_no_suggestion_and_no_engine(runtime: Address) -> None:
    command = rule_server_command(**COMMAND)
    async with editing(vscode(), runtime, command=command, options={"enabled": False}) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await num_invoked(client, uri) == 0
        assert "switched off" in log_of(client)
    assert not runtime.pid_path.exists()


async def test_each_bad_option_is_logged_once_and_the_rest_applies(runtime: Address) -> None:
    options = {"debounceMs": "soon", "colour": "red", "maxCandidates": 2}
    command = rule_server_command(**COMMAND)
    async with editing(vscode(), runtime, command=command, options=options) as client:
        uri = open_document(client, "a.py", "y = ")
        assert await num_invoked(client, uri) == 2
        assert log_of(client).count("option 'debounceMs' keeps its default") == 1
        assert log_of(client).count("unknown option 'colour'") == 1


async def test_options_that_are_no_object_are_logged(runtime: Address) -> None:
    who = vscode()
    options = ["maxCandidates", 2]
    command = rule_server_command(**COMMAND)
    async with editing(who, runtime, command=command, options=options) as client:  # type: ignore[arg-type]
        uri = open_document(client, "a.py", "y = ")
        assert await num_invoked(client, uri) == 3
        assert "ignored the options: they must be an object" in log_of(client)


async def test_another_model_is_loaded_at_once(runtime: Address) -> None:
    who = neovim()
    assert who.capabilities.workspace is not None
    who.capabilities.workspace.configuration = False
    async with editing(who, runtime, command=rule_server_command(**COMMAND)) as client:
        await engine_once(runtime, lambda status: status.state == "ready")
        client.workspace_did_change_configuration(changed({"model": "other"}))
        await engine_once(runtime, lambda status: status.model == "other")
