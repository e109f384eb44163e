"""Is an engine alive at an address? Told by its lock, which the system frees however it ends."""

import filelock

from intarsia.engine.ipc.address import Address


def is_engine_alive(address: Address) -> bool:
    """Tell whether some process holds the engine's lock."""
    try:
        with filelock.FileLock(address.engine_lock_path).acquire(blocking=False):
            return False
    except filelock.Timeout:
        return True
