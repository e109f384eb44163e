"""Gets the client's settings: by ``workspace/configuration`` where supported, else as sent.

They are requested for the window, and for each opened folder by its URI.
"""

import logging
from collections.abc import Mapping, Sequence

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from intarsia.lsp.documents.folders import Folder
from intarsia.lsp.server import IntarsiaServer

SECTION = "intarsia"

logger = logging.getLogger(__name__)


async def load_configuration(ls: IntarsiaServer) -> None:
    """Request the client's settings, and notifications of their changes, where it supports that."""
    workspace = ls.client_capabilities.workspace
    if workspace is None:
        return
    changes = workspace.did_change_configuration
    ls.session.settings_requests.begin()
    try:
        if changes is not None and changes.dynamic_registration:
            await _register_for_changes(ls)
        await _pull(ls, ls.session.folders)
    finally:
        ls.session.settings_arrived()


async def did_change_configuration(
    ls: IntarsiaServer, params: types.DidChangeConfigurationParams
) -> None:
    """Take the new settings; load the model at once if they name another."""
    session = ls.session
    before = (session.settings.model, session.is_enabled)
    if _can_pull(ls):
        session.settings_requests.begin()
        try:
            await _pull(ls, session.folders)
        finally:
            session.settings_arrived()
    else:
        session.configure(_own_section(params.settings))
    if (session.settings.model, session.is_enabled) != before:
        session.preload()


def add_folders(ls: IntarsiaServer, added: Sequence[Folder]) -> None:
    """Take folders that the client has opened since; they are not indexed before their settings."""
    session = ls.session
    if not _can_pull(ls):
        session.change_folders(added=added, removed=[])
        return
    session.settings_requests.begin()
    session.change_folders(added=added, removed=[])
    session.start(_pull_new(ls, added))


async def _pull_new(ls: IntarsiaServer, added: Sequence[Folder]) -> None:
    try:
        await _pull(ls, added)
    finally:
        ls.session.settings_arrived()


async def _pull(ls: IntarsiaServer, folders: Sequence[Folder]) -> None:
    answer = await _requested(ls, folders)
    if answer is not None:
        ls.session.configure(*answer)


async def _requested(
    ls: IntarsiaServer, folders: Sequence[Folder]
) -> tuple[object, Mapping[str, object]] | None:
    """Return the window's options and those of each folder; None where there is no answer.

    A client that does not know folders answers for each as for the window, or with less items.
    """
    if not _can_pull(ls):
        return None
    uris = [folder.uri for folder in folders]
    items = [types.ConfigurationItem(scope_uri=uri, section=SECTION) for uri in (None, *uris)]
    try:
        answer = await ls.workspace_configuration_async(types.ConfigurationParams(items))
    except JsonRpcException as error:
        logger.warning("the client did not send its settings: %s", error)
        return None
    window, *of_folders = answer or (None,)
    return window, dict(zip(uris, of_folders, strict=False))


def _can_pull(ls: IntarsiaServer) -> bool:
    workspace = ls.client_capabilities.workspace
    return workspace is not None and bool(workspace.configuration)


async def _register_for_changes(ls: IntarsiaServer) -> None:
    registration = types.Registration(
        id=f"{SECTION}.configuration",
        method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
        register_options=types.DidChangeConfigurationRegistrationOptions(section=SECTION),
    )
    try:
        await ls.client_register_capability_async(types.RegistrationParams([registration]))
    except JsonRpcException as error:
        logger.warning("the client will not notify changes of its settings: %s", error)


def _own_section(settings: object) -> object:
    """Return our section: clients send it alone or within all settings."""
    if isinstance(settings, Mapping) and SECTION in settings:
        return settings[SECTION]
    return settings
