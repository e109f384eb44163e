"""The server object: pygls' server with a session, and its log sent to the editor.

``features`` registers its handlers. Records of the log become ``window/logMessage``: on standard
error, editors would show them as errors.
"""

import asyncio
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.io_ import StdinAsyncReader, run_async
from pygls.lsp.server import LanguageServer

from intarsia.engine.ipc.printable import printable
from intarsia.lsp.client_streams import BoundedInput, ClientOutput, DaemonThread
from intarsia.lsp.documents.positions import PositionEncoding
from intarsia.lsp.protocol import IntarsiaProtocol, RunCommand
from intarsia.lsp.session import Session

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader

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

    def start_io(self, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
        """Serve one client until ``exit``, the end of the input, or of who reads the output."""
        from_client, to_client = stdin or sys.stdin.buffer, stdout or sys.stdout.buffer
        try:
            asyncio.run(self._serve_files(from_client.fileno(), to_client.fileno()))
        except (KeyboardInterrupt, SystemExit, asyncio.CancelledError):
            pass
        finally:
            self.shutdown()  # type: ignore[no-untyped-call]

    async def _serve_files(self, stdin: int, stdout: int) -> None:
        loop, serving = asyncio.get_running_loop(), asyncio.current_task()
        assert serving is not None

        def end() -> None:
            if self._stop_event is not None and not self._stop_event.is_set():
                self.end_reading()
                serving.cancel()

        def client_gone() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(end)

        output = ClientOutput(stdout, client_gone)
        self.protocol.set_writer(output)
        try:
            await self.serve(StdinAsyncReader(BoundedInput.of(stdin), DaemonThread()))  # type: ignore[arg-type]
        finally:
            output.close()

    async def serve(self, reader: "AsyncReader") -> None:
        """Answer the messages of one client. Raises SystemExit at an ``exit`` without ``shutdown``.

        Its session is closed in any case. Without this, tasks would be cancelled at any point, as
        in the start of a process.
        """
        self._stop_event = Event()
        try:
            await run_async(
                self._stop_event, reader, self.protocol, logger, self.report_server_error
            )
        finally:
            self._stop_event.set()
            await self.session.close()

    def end_reading(self) -> None:
        """Take no further message; what serves the client ends the session."""
        if self._stop_event is not None:
            self._stop_event.set()

    @property
    def position_encoding(self) -> PositionEncoding:
        """The encoding of positions that server and client agreed on."""
        agreed = self.workspace.position_encoding
        return next(known for known in get_args(PositionEncoding) if known == agreed)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log the error: a fault of the server must not interrupt the user."""
        if source is not FeatureRequestError:  # this one is sent as the request's answer
            logger.error("%s: %s", source.__name__, error)


class ClientLogHandler(logging.Handler):
    """Sends every log record to the client, but for those that sending one causes."""

    def __init__(self, server: "LanguageServer") -> None:
        super().__init__()
        self._server = server
        self._is_sending = False

    def emit(self, record: logging.LogRecord) -> None:
        if self._is_sending:
            return
        self._is_sending = True
        try:
            message = printable(self.format(record))
            self._server.window_log_message(types.LogMessageParams(_message_type(record), message))
        finally:
            self._is_sending = False


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
    """Drop what no client can avoid, a cancel that crosses its answer, and what we say shorter."""
    dropped = ("Cancel notification for unknown message id", "Unable to deserialize message")
    return not str(record.msg).startswith(dropped)


def _message_type(record: logging.LogRecord) -> types.MessageType:
    if record.levelno >= logging.ERROR:
        return types.MessageType.Error
    if record.levelno >= logging.WARNING:
        return types.MessageType.Warning
    return types.MessageType.Info
