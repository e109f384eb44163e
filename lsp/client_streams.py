"""The streams from and to one client. Neither holds up the server's work, nor its end.

pygls takes any ``Content-Length`` and lines of any length, but only one spelling of the header: a
message that is too long ends the connection as if the client had closed it, since what follows its
header cannot be told apart from further messages.
"""

import logging
import os
import re
import select
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, cast

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
                "a message of %s bytes is too long, %s are the most: the connection ends",
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
        """Take nothing more; wait a little for the client to read the rest."""
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
