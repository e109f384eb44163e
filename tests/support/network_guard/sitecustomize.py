"""Writes down each Python process that starts with this folder on its path, and whom it asks.

Python imports a module of this name by itself. The file NETWORK_LOG gets a line a process, and a
line for each address that is neither a Unix socket nor this machine's own.
"""

import os
import sys

LOG = os.environ["NETWORK_LOG"]
_OWN = ("localhost", "127.0.0.1", "::1")


def note(line: str) -> None:
    descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: https://docs.python.org/3/library/audit_events.html."""
    if event in ("socket.connect", "socket.sendto", "socket.bind"):
        address = arguments[1]
        if isinstance(address, tuple) and address[0] not in _OWN:
            note(f"asked {event} {address}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname") and arguments[0] not in _OWN:
        note(f"asked {event} {arguments[0]}")


note("started " + " ".join(sys.orig_argv))
sys.addaudithook(watch)
