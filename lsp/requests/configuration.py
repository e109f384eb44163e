"""The settings and folders of the client's workspace.

Settings come by ``workspace/configuration`` where that is supported, for the window and for each
opened folder by its URI; else as they are sent.
"""

import logging
from collections.abc import Mapping, Sequence

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from intarsia.lsp.documents import Folder
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.session import Session

SECTION = "intarsia"

logger = logging.getLogger(__name__)


async def initialized(ls: IntarsiaServer) -> None:
    """Load the settings, then the model."""
    await load_configuration(ls)
    if ls.session.extensions.status:
        ls.session.status.start()
    preload(ls.session)


async def load_configuration(ls: IntarsiaServer) -> None:
    """Request the client's settings, and notifications of their changes, where it supports that.

    Return once they are in force. A client may never send them: then the initial options count,
    until the settings come after all.
    """
    workspace = ls.client_capabilities.workspace
    changes = None if workspace is None else workspace.did_change_configuration
    if changes is not None and changes.dynamic_registration:
        ls.session.start(_register_for_changes(ls))
    if _can_pull(ls):
        _pull(ls, ls.session.in_force.folders, is_first=True)
    await ls.session.settings_requests.settled()


async def did_change_configuration(
    ls: IntarsiaServer, params: types.DidChangeConfigurationParams
) -> None:
    """Apply the new settings; load the model at once if they name another."""
    session = ls.session
    if _can_pull(ls):
        _pull(ls, session.in_force.folders)
        return
    before = _model_of(session)
    settings: object = params.settings  # clients send our section alone or within all settings
    if isinstance(settings, Mapping) and SECTION in settings:
        settings = settings[SECTION]
    session.configure(settings)
    if _model_of(session) != before:
        preload(session)


def preload(session: Session) -> None:
    """Load the model in the background, if the settings say so."""
    if session.in_force.is_enabled and session.settings.preload:
        session.start(session.engine.preload(session.settings.model))


def add_folders(ls: IntarsiaServer, added: Sequence[Folder]) -> None:
    """Add folders that the client has opened since; they are not indexed before their settings."""
    if _can_pull(ls):
        _pull(ls, added)
    ls.session.change_folders(added=added, removed=[])


def _pull(ls: IntarsiaServer, folders: Sequence[Folder], *, is_first: bool = False) -> None:
    number = ls.session.settings_requests.begin()
    ls.session.start(_take(ls, folders, number, is_first=is_first))


async def _take(
    ls: IntarsiaServer, folders: Sequence[Folder], number: int, *, is_first: bool
) -> None:
    """Request settings and put them into force. The model of the first is loaded by the caller."""
    session = ls.session
    before = _model_of(session)
    is_late = False
    try:
        answer = await _requested(ls, folders)
        is_late = not session.settings_requests.is_waited_for(number)
        if answer is not None:
            session.configure(*answer)
    finally:
        session.settings_requests.end(number)
    if _model_of(session) != before and (is_late or not is_first):
        preload(session)


def _model_of(session: Session) -> tuple[str | None, bool]:
    """Return what decides which model is loaded, if any."""
    return session.settings.model, session.in_force.is_enabled


async def _requested(
    ls: IntarsiaServer, folders: Sequence[Folder]
) -> tuple[object, Mapping[str, object]] | None:
    """Return the window's options and those of each folder; None where there is no answer.

    A client that does not know folders answers for each as for the window, or with less items.
    """
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
        logger.warning("the client will not report changes to its settings: %s", error)


def did_change_workspace_folders(
    ls: IntarsiaServer, params: types.DidChangeWorkspaceFoldersParams
) -> None:
    """Index the folders that are open now, new ones once their settings are known."""
    added = [Folder(uri=folder.uri) for folder in params.event.added]
    removed = [Folder(uri=folder.uri) for folder in params.event.removed]
    if removed:
        ls.session.change_folders(added=[], removed=removed)
    if added:
        add_folders(ls, added)
