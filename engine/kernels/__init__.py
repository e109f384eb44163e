"""A pass over a causal backbone in machine code of our own, compiled where it runs (numba).

What was compiled is kept in the user's cache folder, under a name that changes with these files:
numba itself looks only at the file of the function that it keeps. It writes with pickle, so only a
folder that nobody else may write to is read.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numba

from intarsia.engine.cache.folder import cache_folder

Result = TypeVar("Result")

_OTHERS_MAY_WRITE = 0o022


def _kept_in() -> Path | None:
    """Return the folder of what was compiled, None where none is ours alone."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    folder = cache_folder() / "kernels" / digest.hexdigest()[:16]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return None
    is_ours = os.name == "nt" or (
        found.st_uid == os.getuid() and not found.st_mode & _OTHERS_MAY_WRITE
    )
    return folder if is_ours and os.access(folder, os.W_OK) else None


_FOLDER = _kept_in()

CAN_KEEP = _FOLDER is not None
"""Whether compiled functions are kept: else each process compiles its own."""

if CAN_KEEP:
    numba.config.CACHE_DIR = str(_FOLDER)


def run_compiled(work: Callable[[], Result]) -> Result:
    """Run what may compile. Where what was kept is damaged, or cannot be written, it goes, and the
    work is done again."""
    try:
        return work()
    except Exception:
        if _FOLDER is None:
            raise
        for file in _FOLDER.rglob("*"):
            if file.is_file():
                file.unlink(missing_ok=True)
        return work()
