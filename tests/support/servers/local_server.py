"""What tests need of a server that is a process of this machine: a port, and patience."""

import socket
import time
from collections.abc import Callable


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def wait_until(is_so: Callable[[], bool], *, limit_s: float = 120) -> None:
    """Return once it is so: for what a server shows in its own figures only."""
    end = time.monotonic() + limit_s
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)
