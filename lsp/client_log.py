"""The server's own log, shown in the editor: records become ``window/logMessage``."""

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer


class ClientLogHandler(logging.Handler):
    """Sends every record to the client."""

    def __init__(self, server: "LanguageServer") -> None:
        super().__init__()
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        message = self.format(record)
        self._server.window_log_message(types.LogMessageParams(_message_type(record), message))


def log_to_client(server: "LanguageServer") -> None:
    """Send what intarsia logs (from INFO) to the client, and no longer to standard error."""
    log = logging.getLogger("intarsia")
    log.addHandler(ClientLogHandler(server))
    log.setLevel(logging.INFO)
    log.propagate = False


def _message_type(record: logging.LogRecord) -> types.MessageType:
    if record.levelno >= logging.ERROR:
        return types.MessageType.Error
    if record.levelno >= logging.WARNING:
        return types.MessageType.Warning
    return types.MessageType.Info
