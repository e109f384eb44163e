"""The server object: pygls' server with a session, bounded input, and its log sent to the editor.

``features`` registers its handlers. pygls takes any ``Content-Length`` and lines of any length: a
message that is too long ends the connection as if the client had closed it, since what follows its
header cannot be told apart from further messages. Records of the log become ``window/logMessage``:
on standard error, editors would show them as errors.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async
from pygls.lsp.server import LanguageServer

from intarsia.engine.ipc.printable import printable
from intarsia.lsp.documents.positions import PositionEncoding
from intarsia.lsp.protocol import IntarsiaProtocol, RunCommand
from intarsia.lsp.session import Session

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader

    from intarsia.engine.ipc.launch import LaunchOptions

VERSION = "0.1.0"
"""The package's own. ``importlib.metadata`` takes a twentieth of the server's start to tell it."""

CLOSE_S = 10.0
"""The longest wait for what is left to write and to end, after a client that has gone."""

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

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve one client until ``exit`` or the end of the input."""
        self.protocol.set_writer(ClientOutput(stdout or sys.stdout.buffer))
        try:
            asyncio.run(self.serve(StdinAsyncReader(stdin or sys.stdin.buffer, self.thread_pool)))
        except (KeyboardInterrupt, SystemExit):
            pass
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]

    async def serve(self, reader: "AsyncReader") -> None:
        """Answer the messages of one client. Raises SystemExit at ``exit``.

        A client that has gone without ``shutdown`` has its session closed, too. Without this, tasks
        would be cancelled at any point, as in the start of a process.
        """
        self._stop_event = Event()
        try:
            await run_async(
                self._stop_event, reader, self.protocol, logger, self.report_server_error
            )
        finally:
            if not self.protocol.is_shut_down:
                try:
                    async with asyncio.timeout(CLOSE_S):
                        await self.session.close()
                except TimeoutError:
                    logger.error("the session does not end within %.0f s", CLOSE_S)

    @property
    def position_encoding(self) -> PositionEncoding:
        """The encoding of positions that server and client agreed on."""
        agreed = self.workspace.position_encoding
        return next(known for known in get_args(PositionEncoding) if known == agreed)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log the error: a fault of the server must not interrupt the user."""
        if source is not FeatureRequestError:  # this one is sent as the request's answer
            logger.error("%s: %s", source.__name__, error)


MAX_MESSAGE_BYTES = 64 * 1024 * 1024
MAX_HEADER_BYTES = 1_024
"""A longer line is read in parts, and no part counts as a header."""

_log = logging.getLogger(__name__)


class BoundedInput:
    """The part of a ``BinaryIO`` that pygls uses: header lines, and bodies of at most 64 MiB."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def readline(self) -> bytes:
        return self._source.readline(MAX_HEADER_BYTES)

    def read(self, size: int) -> bytes:
        """Return the body of a message; nothing, as at the end of the input, if it is too long."""
        if size > MAX_MESSAGE_BYTES:
            _log.error(
                "a message of %s bytes is too long, %s are the most: the connection ends",
                size,
                MAX_MESSAGE_BYTES,
            )
            return b""
        return self._source.read(size)


class ClientOutput(StdoutWriter):
    """Writes to the client. Once it reads no more, all that is sent to it goes nowhere.

    An error would be logged, the log is sent to the client, and that would be another error.
    """

    def write(self, data: bytes) -> None:
        try:
            super().write(data)
        except OSError:
            # What is left in the buffer would raise again, at the exit too.
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
                os.dup2(nowhere.fileno(), self._stdout.fileno())


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
