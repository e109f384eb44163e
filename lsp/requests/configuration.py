"""Gets the client's settings: by ``workspace/configuration`` where supported, else as sent."""

import logging
from collections.abc import Mapping

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from intarsia.lsp.server import IntarsiaServer

SECTION = "intarsia"

logger = logging.getLogger(__name__)


async def load_configuration(ls: IntarsiaServer) -> None:
    """Request the client's settings, and notifications of their changes, where it supports that."""
    workspace = ls.client_capabilities.workspace
    if workspace is None:
        return
    changes = workspace.did_change_configuration
    if changes is not None and changes.dynamic_registration:
        await _register_for_changes(ls)
    if workspace.configuration:
        await _pull(ls)


async def did_change_configuration(
    ls: IntarsiaServer, params: types.DidChangeConfigurationParams
) -> None:
    """Take the new settings; load the model at once if they name another."""
    before = ls.session.settings
    workspace = ls.client_capabilities.workspace
    if workspace is not None and workspace.configuration:
        await _pull(ls)
    else:
        ls.session.configure(_own_section(params.settings))
    after = ls.session.settings
    if (after.model, after.enabled) != (before.model, before.enabled):
        ls.session.preload()


async def _pull(ls: IntarsiaServer) -> None:
    item = types.ConfigurationItem(section=SECTION)
    try:
        answer = await ls.workspace_configuration_async(types.ConfigurationParams([item]))
    except JsonRpcException as error:
        logger.warning("the client did not send its settings: %s", error)
        return
    ls.session.configure(answer[0] if answer else None)


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
