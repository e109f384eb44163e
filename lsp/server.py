"""The server object: pygls' server with a session, and its log sent to the editor.

``method_table`` registers its handlers. Log records become ``window/logMessage``: on standard
error, editors would show them as errors.
"""

import asyncio
import logging
import os
import re
import select
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, BinaryIO, cast, get_args

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.io_ import StdinAsyncReader, run_async
from pygls.lsp.server import LanguageServer

from intarsia.engine.ipc.printable import printable
from intarsia.lsp.positions import PositionEncoding
from intarsia.lsp.protocol import IntarsiaProtocol, RunCommand
from intarsia.lsp.session import Session

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader

    from intarsia.engine.ipc.launch import LaunchOptions


MAX_MESSAGE_BYTES = 64 * 1024 * 1024
MAX_HEADER_BYTES = 1_024
"""A longer line is read in parts, and no part counts as a header."""

MAX_UNREAD_BYTES = 64 * 1024 * 1024
"""A client that leaves more unread is as good as gone."""

LAST_WORDS_S = 0.5
"""The longest wait at the end for a client to read what was sent to it."""

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d+)[ \t]*\r?\n", re.IGNORECASE)
_log = logging.getLogger(__name__)


class DaemonThread(Executor):
    """Makes calls one after another; one that never returns does not keep the process alive."""

    def __init__(self) -> None:
        self._calls = SimpleQueue[tuple[Future[Any], Callable[[], Any]]]()
        Thread(target=self._run, daemon=True).start()

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = Future[Any]()
        self._calls.put((future, partial(call, *args, **kwargs)))
        return future

    def _run(self) -> None:
        while True:
            future, call = self._calls.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except Exception as error:  # noqa: BLE001
                    future.set_exception(error)


class BoundedInput:
    """The part of a ``BinaryIO`` that pygls uses: header lines, and bodies of at most 64 MiB."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    @classmethod
    def of(cls, descriptor: int) -> BinaryIO:
        """Read from this file in any thread: Python's own object for it must not be in use at the
        end of the process."""
        return cast(BinaryIO, cls(open(descriptor, "rb", closefd=False)))

    def readline(self) -> bytes:
        """Return a line; the header that pygls needs in the one spelling that it knows."""
        line = self._source.readline(MAX_HEADER_BYTES)
        length = _LENGTH.fullmatch(line)
        return b"Content-Length: %s\r\n" % length[1] if length else line

    def read(self, size: int) -> bytes:
        """Return the body of a message; nothing, as at the end of the input, if it is too long."""
        if size > MAX_MESSAGE_BYTES:
            _log.error(
                "a message of %s bytes is too long (at most %s): the connection is closed",
                size,
                MAX_MESSAGE_BYTES,
            )
            return b""
        return self._source.read(size)


class ClientOutput:
    """Writes to the client in a thread. Once nobody reads, all that is sent goes nowhere.

    ``on_gone`` is called then, at least once and in any thread.
    """

    def __init__(self, descriptor: int, on_gone: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_gone = on_gone
        self._is_closed = False
        self._thread = DaemonThread()
        self._newest: Future[Any] = self._thread.submit(int)
        self._num_given = self._num_written = 0  # bytes
        if hasattr(select, "poll"):
            DaemonThread().submit(self._watch)

    def write(self, data: bytes) -> None:
        if self._is_closed:
            return
        self._num_given += len(data)
        if self._num_given - self._num_written > MAX_UNREAD_BYTES:
            self._lose()
        else:
            self._newest = self._thread.submit(self._write, data)

    def close(self) -> None:
        """Accept nothing more; wait a little for the client to read the rest."""
        self._is_closed = True
        wait([self._newest], LAST_WORDS_S)

    def _write(self, data: bytes) -> None:
        self._num_written += len(data)
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            self._lose()

    def _watch(self) -> None:
        """Wait until the other end is closed."""
        poll = select.poll()
        poll.register(self._descriptor, 0)
        if any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll()):
            self._lose()

    def _lose(self) -> None:
        self._is_closed = True
        self._on_gone()


VERSION = "0.1.0"
"""The package's version. ``importlib.metadata`` would take a twentieth of the server's start."""

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
        """Accept no further message; whatever serves the client ends the session."""
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

    def __init__(self, server: LanguageServer) -> None:
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


def log_to_client(server: LanguageServer) -> None:
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
