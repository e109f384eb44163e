"""An engine's address for one test; an engine that was started there is ended with it."""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from intarsia.engine.ipc.address import Address, Transport


@contextlib.contextmanager
def temporary_address(transport: Transport = "unix") -> Iterator[Address]:
    """Yield an address in a new folder with a short path, as a socket's path must be short."""
    directory = Path(tempfile.mkdtemp(prefix="int-"))
    address = Address(directory=directory, log_directory=directory, transport=transport)
    try:
        yield address
    finally:
        _remove(address)


def _remove(address: Address) -> None:
    """End the engine and remove its folder; again if a client starts another one meanwhile."""
    for _ in range(50):
        _end_engine(address)
        with contextlib.suppress(OSError):
            shutil.rmtree(address.directory)
            return
        time.sleep(0.1)
    shutil.rmtree(address.directory)


def _end_engine(address: Address) -> None:
    with contextlib.suppress(OSError, ValueError, psutil.NoSuchProcess):
        process = psutil.Process(int(address.pid_path.read_text()))
        if process.pid != os.getpid():
            process.kill()
            process.wait(10)
