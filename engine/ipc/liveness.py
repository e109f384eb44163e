"""Whether an engine runs at an address: its lock shows it, which the system frees at its end."""

import filelock

from intarsia.engine.ipc.address import Address


def is_engine_alive(address: Address) -> bool:
    """Tell whether a process holds the engine's lock."""
    try:
        with filelock.FileLock(address.engine_lock_path).acquire(blocking=False):
            return False
    except filelock.Timeout:
        return True
