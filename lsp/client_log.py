"""Sends the server's log to the editor: records become ``window/logMessage``.

pygls' warnings go the same way: on standard error, editors would show them as errors.
"""

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

from intarsia.engine.ipc.printable import printable

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer


class ClientLogHandler(logging.Handler):
    """Sends every log record to the client."""

    def __init__(self, server: "LanguageServer") -> None:
        super().__init__()
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        message = printable(self.format(record))
        self._server.window_log_message(types.LogMessageParams(_message_type(record), message))


def log_to_client(server: "LanguageServer") -> None:
    """Send intarsia's log (from INFO) to the client instead of standard error."""
    handler = ClientLogHandler(server)
    for name, level in (("intarsia", logging.INFO), ("pygls", logging.WARNING)):
        log = logging.getLogger(name)
        log.addHandler(handler)
        log.setLevel(level)
        log.propagate = False
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_worth_logging)


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Drop the warning about a cancel that crosses its answer: no client can avoid that."""
    return not str(record.msg).startswith("Cancel notification for unknown message id")


def _message_type(record: logging.LogRecord) -> types.MessageType:
    if record.levelno >= logging.ERROR:
        return types.MessageType.Error
    if record.levelno >= logging.WARNING:
        return types.MessageType.Warning
    return types.MessageType.Info
