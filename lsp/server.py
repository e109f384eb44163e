"""The server object, the table of its handlers, and the two ways to serve."""

import logging
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, get_args

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from intarsia.lsp.documents.positions import PositionEncoding
from intarsia.lsp.protocol import IntarsiaProtocol
from intarsia.lsp.requests import code_action
from intarsia.lsp.requests.configuration import did_change_configuration
from intarsia.lsp.requests.inline_completion import inline_completion
from intarsia.lsp.requests.lifecycle import initialize, initialized, shutdown
from intarsia.lsp.session import Session

if TYPE_CHECKING:
    from intarsia.engine.ipc.launch import LaunchOptions

logger = logging.getLogger("pygls.server")


class IntarsiaServer(LanguageServer):
    """pygls' server with a session."""

    protocol: IntarsiaProtocol

    def __init__(self, launch: "LaunchOptions | None" = None) -> None:
        super().__init__("intarsia", version("intarsia"), protocol_cls=IntarsiaProtocol)
        self.session = Session(self, launch)
        self.feature(types.INITIALIZE)(initialize)
        self.feature(types.INITIALIZED)(initialized)
        self.feature(types.SHUTDOWN)(shutdown)
        self.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(did_change_configuration)
        self.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(
            inline_completion
        )
        self.feature(types.TEXT_DOCUMENT_CODE_ACTION, code_action.OPTIONS)(code_action.code_action)
        self.feature(types.CODE_ACTION_RESOLVE)(code_action.resolve_code_action)

    @property
    def position_encoding(self) -> PositionEncoding:
        """What was agreed on with the client."""
        agreed = self.workspace.position_encoding
        return next(known for known in get_args(PositionEncoding) if known == agreed)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log it: a fault of ours is nothing to interrupt the user with."""
        if source is not FeatureRequestError:  # that one is the answer to the request
            logger.error("%s: %s", source.__name__, error)
