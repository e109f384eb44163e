"""The server's own log, shown in the editor: records become ``window/logMessage``.

pygls' warnings go the same way: written to standard error, editors take them for errors.
"""

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
    handler = ClientLogHandler(server)
    for name, level in (("intarsia", logging.INFO), ("pygls", logging.WARNING)):
        log = logging.getLogger(name)
        log.addHandler(handler)
        log.setLevel(level)
        log.propagate = False
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_worth_telling)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """A cancel that crosses its answer is no fault: no client can avoid it."""
    return not str(record.msg).startswith("Cancel notification for unknown message id")


def _message_type(record: logging.LogRecord) -> types.MessageType:
    if record.levelno >= logging.ERROR:
        return types.MessageType.Error
    if record.levelno >= logging.WARNING:
        return types.MessageType.Warning
    return types.MessageType.Info
