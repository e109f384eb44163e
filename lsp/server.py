"""The server object: pygls' server with a session. ``features`` registers its handlers."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from intarsia.lsp.documents.positions import PositionEncoding
from intarsia.lsp.protocol import IntarsiaProtocol, RunCommand
from intarsia.lsp.session import Session

if TYPE_CHECKING:
    from intarsia.engine.ipc.launch import LaunchOptions

VERSION = "0.1.0"
"""The package's own. ``importlib.metadata`` takes a twentieth of the server's start to tell it."""

logger = logging.getLogger("pygls.server")


class IntarsiaServer(LanguageServer):
    """pygls' server with a session, and the commands that clients may execute."""

    protocol: IntarsiaProtocol

    def __init__(self, launch: "LaunchOptions | None" = None) -> None:
        super().__init__(
            "intarsia",
            VERSION,
            protocol_cls=IntarsiaProtocol,
            notebook_document_sync=types.NotebookDocumentSyncOptions(
                notebook_selector=[types.NotebookDocumentFilterWithNotebook(notebook="*")]
            ),
        )
        self.session = Session(self, launch)
        self.own_commands: Mapping[str, RunCommand] = {}  # by name

    @property
    def position_encoding(self) -> PositionEncoding:
        """The encoding of positions that server and client agreed on."""
        agreed = self.workspace.position_encoding
        return next(known for known in get_args(PositionEncoding) if known == agreed)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log the error: a fault of the server must not interrupt the user."""
        if source is not FeatureRequestError:  # this one is sent as the request's answer
            logger.error("%s: %s", source.__name__, error)
