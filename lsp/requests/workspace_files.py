"""Tells the index which files of the opened folders have changed.

Clients that support it are asked to watch source files; else the index looks for changes by itself,
now and then.
"""

import asyncio
import logging
from collections.abc import Iterable

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from intarsia.infill.languages import all_languages
from intarsia.lsp.documents import disk_path
from intarsia.lsp.project.index_connection import IndexConnection
from intarsia.lsp.server import IntarsiaServer
from intarsia.lsp.settings_in_force import LONGEST_WAIT_S

logger = logging.getLogger(__name__)

_REGISTRATION = "intarsia.files"
_EVENTS_A_TURN = 100
"""A checkout changes thousands of files at once; requests are answered in between."""


async def watch_files(ls: IntarsiaServer) -> None:
    """Open the index, and ask the client to tell of changed files where it can."""
    workspace = ls.client_capabilities.workspace
    watching = None if workspace is None else workspace.did_change_watched_files
    can_watch = watching is not None and bool(watching.dynamic_registration)
    is_asked = can_watch and ls.session.in_force.shows_project
    has_file_events = is_asked and await _register_in_time(ls)
    ls.session.feature(IndexConnection).follow(ls.session, has_file_events=has_file_events)


async def did_change_watched_files(
    ls: IntarsiaServer, params: types.DidChangeWatchedFilesParams
) -> None:
    """Report files that were created, changed or deleted to the index."""
    for first in range(0, len(params.changes), _EVENTS_A_TURN):
        changes = params.changes[first : first + _EVENTS_A_TURN]
        ls.session.feature(IndexConnection).files_changed(_paths(change.uri for change in changes))
        await asyncio.sleep(0)


def did_save(ls: IntarsiaServer, params: types.DidSaveTextDocumentParams) -> None:
    """Report a saved file to the index: not every client watches files."""
    ls.session.feature(IndexConnection).files_changed(_paths([params.text_document.uri]))


async def _register_in_time(ls: IntarsiaServer) -> bool:
    """Return whether the client will tell of changed files; False for one that does not answer."""
    registering = asyncio.create_task(_register(ls))
    done, _ = await asyncio.wait({registering}, timeout=LONGEST_WAIT_S)
    return bool(done) and registering.result()


async def _register(ls: IntarsiaServer) -> bool:
    """Return whether the client will tell of changed files."""
    endings = sorted({ending.lstrip(".") for row in all_languages() for ending in row.extensions})
    watchers = [
        types.FileSystemWatcher(glob_pattern=pattern)
        for pattern in (f"**/*.{{{','.join(endings)}}}", "**/.gitignore", "**/.intarsiaignore")
    ]
    registration = types.Registration(
        id=_REGISTRATION,
        method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
        register_options=types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers),
    )
    try:
        await ls.client_register_capability_async(types.RegistrationParams([registration]))
    except JsonRpcException as error:
        logger.warning("the client will not report changed files: %s", error)
        return False
    return True


def _paths(uris: Iterable[str]) -> list[str]:
    """Return the paths of files on disk, with forward slashes."""
    return [path for uri in uris if (path := disk_path(uri))]
