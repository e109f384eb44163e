"""Ends a command that the system terminates as Ctrl-C does: engines and baselines end with it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block when the process gets SIGTERM."""
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
