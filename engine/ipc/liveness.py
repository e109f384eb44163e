"""Whether an engine runs at an address: its lock shows it, which the system frees at its end."""

import contextlib
from collections.abc import Iterator

import filelock

from intarsia.engine.ipc.address import Address
from intarsia.engine.ipc.errors import EngineUnavailable


def is_engine_alive(address: Address) -> bool:
    """Tell whether a process holds the engine's lock. Raises ``EngineUnavailable``."""
    try:
        with (
            plain_lock_faults(address),
            filelock.FileLock(address.engine_lock_path).acquire(blocking=False),
        ):
            return False
    except filelock.Timeout:
        return True


@contextlib.contextmanager
def plain_lock_faults(address: Address) -> Iterator[None]:
    """Raise EngineUnavailable where the folder's disk can lock no files, as on some networks."""
    try:
        yield
    except filelock.Timeout:
        raise
    except OSError as error:
        raise EngineUnavailable(
            f"cannot lock a file in {address.directory} ({error.strerror}): "
            "set INTARSIA_RUNTIME_DIR to a folder on a disk of this machine"
        ) from error
