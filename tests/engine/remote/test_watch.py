"""Waiting for a server's socket, whatever its number."""

import contextlib
import fcntl
import resource
import socket
from collections.abc import Iterator

import pytest

from intarsia.engine.remote.http.wire import Watch

MOST_OF_SELECT = 1_024


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield two ends of a connection, the first with a number that ``select`` does not take."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * MOST_OF_SELECT, limits[1]))
    with contextlib.ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        one, other = (opened.enter_context(it) for it in socket.socketpair())
        high = fcntl.fcntl(one, fcntl.F_DUPFD, MOST_OF_SELECT)
        yield opened.enter_context(socket.socket(fileno=high)), other


def watch() -> Watch:
    return Watch(checkpoint=lambda: None, silence_s=0.1, total_s=5)


def test_many_open_files_are_no_obstacle(sockets: tuple[socket.socket, socket.socket]) -> None:
    high, other = sockets
    other.send(b"x")
    watch().wait(high)
    assert high.recv(1) == b"x"
    watch().wait(high, for_write=True)
