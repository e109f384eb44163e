"""A relay on this machine before a server: it tells how long that server took for its answers.

What an engine's fill takes beyond this is the share of our side. The server need not tell its own
times, and what HTTP costs it counts as its own. So does what the relay itself does with a request
and an answer. Waking the relay up counts as ours: it is one thread on sockets, as each turn of an
event loop would add half a millisecond to a fill.
"""

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_RECEIVE_BYTES = 64 * 1024


class ServerTime:
    """The seconds from requests that have reached the relay to the last bytes that it passed back.

    Opening the connection to the server is not in it, nor what follows its last byte.
    """

    def __init__(self) -> None:
        self.total_s = 0.0
        self._asked_at: float | None = None
        self._counted_to = 0.0

    def note_request(self) -> None:
        """A part of a request has come, to be sent to the server."""
        self._asked_at = time.perf_counter()
        self._counted_to = self._asked_at

    def note_answer(self) -> None:
        """A part of an answer has been passed back."""
        if self._asked_at is not None:
            now = time.perf_counter()
            self.total_s += now - self._counted_to
            self._counted_to = now


@contextmanager
def timed_relay(host: str, port: int) -> Iterator[tuple[int, ServerTime]]:
    """Yield a port of 127.0.0.1 that leads to the server, and the time of all its answers.

    One request at a time is timed. Raises OSError if there is no server.
    """
    with contextlib.ExitStack() as opened:
        relay = _Relay((host, port), opened)
        thread = threading.Thread(target=relay.run, name="relay", daemon=True)
        thread.start()
        try:
            yield relay.port, relay.server_time
        finally:
            relay.stop()
            thread.join()


class _Relay:
    """The sockets, and what is done once each can be read; all of it by the thread in ``run``."""

    def __init__(self, server: tuple[str, int], opened: contextlib.ExitStack) -> None:
        self.server_time = ServerTime()
        self._server = server
        self._opened = opened
        self._is_running = True
        self._selector = opened.enter_context(selectors.DefaultSelector())
        self._listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port: int = self._listener.getsockname()[1]
        self._stop_here, self._stop_there = (opened.enter_context(it) for it in socket.socketpair())
        self._spare: socket.socket | None = None
        self._open_spare()
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._stop_here, selectors.EVENT_READ, self._end)

    def run(self) -> None:
        """Pass bytes on until ``stop``."""
        while self._is_running:
            for key, _ in self._selector.select():
                if self._selector.get_map().get(key.fd) == key:  # not ended or changed just now
                    key.data()

    def stop(self) -> None:
        """End ``run``, from another thread."""
        self._stop_there.send(b"x")

    def _end(self) -> None:
        self._is_running = False

    def _open_spare(self) -> None:
        """Open the next connection to the server ahead: without a relay there would be none."""
        self._spare = self._opened.enter_context(socket.create_connection(self._server))
        self._spare.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(self._spare, selectors.EVENT_READ, self._drop_spare)

    def _drop_spare(self) -> None:
        """The server did not wait for a request, and has ended the connection."""
        if self._spare is not None:
            self._end_one(self._spare)
            self._spare = None

    def _accept(self) -> None:
        """Take a connection of ours, and pass on what it sends and gets."""
        client = self._opened.enter_context(self._listener.accept()[0])
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self._spare is None:
                self._open_spare()
        except OSError:
            client.close()
            return
        assert self._spare is not None
        server, self._spare = self._spare, None

        def pass_request() -> None:
            self._pass(client, server, before=self.server_time.note_request)

        def pass_answer() -> None:
            self._pass(server, client, after=self.server_time.note_answer)

        self._selector.register(client, selectors.EVENT_READ, pass_request)
        self._selector.modify(server, selectors.EVENT_READ, pass_answer)

    def _pass(
        self,
        source: socket.socket,
        target: socket.socket,
        *,
        before: Callable[[], None] = lambda: None,
        after: Callable[[], None] = lambda: None,
    ) -> None:
        """Pass on what has come. A side that ends the connection ends it for the other."""
        with contextlib.suppress(OSError):
            if data := source.recv(_RECEIVE_BYTES):
                before()
                target.sendall(data)
                after()
                return
        for one in (source, target):
            self._end_one(one)
        if self._spare is None:
            with contextlib.suppress(OSError):
                self._open_spare()

    def _end_one(self, one: socket.socket) -> None:
        self._selector.unregister(one)
        one.close()
