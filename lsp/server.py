"""The server object: pygls' server with a session. ``features`` registers its handlers."""

import asyncio
import logging
import sys
from collections.abc import Mapping
from threading import Event
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.io_ import StdinAsyncReader, StdoutWriter, run_async
from pygls.lsp.server import LanguageServer

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
        self.protocol.set_writer(StdoutWriter(stdout or sys.stdout.buffer))
        try:
            asyncio.run(self.serve(StdinAsyncReader(stdin or sys.stdin.buffer, self.thread_pool)))
        except BrokenPipeError:
            logger.error("the client has gone")
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
                self._stop_event,
                reader,
                self.protocol,
                logger,
                self.report_server_error,
            )
        finally:
            if not self.protocol.is_shut_down:
                await self._close_session()

    async def _close_session(self) -> None:
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
