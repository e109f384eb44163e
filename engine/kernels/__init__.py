"""A pass over a causal backbone in machine code of our own, compiled where it runs (numba).

What was compiled is kept in the user's cache folder, under a name that changes with these files:
numba itself looks only at the file of the function that it keeps.
"""

import hashlib
import os
from pathlib import Path

from intarsia.engine.default_model.cache_folder import cache_folder


def _kept_in() -> Path | None:
    """Return the folder of what was compiled, None where nothing can be written."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    folder = cache_folder() / "kernels" / digest.hexdigest()[:16]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


CAN_KEEP = (_folder := _kept_in()) is not None
"""Whether compiled functions are kept: else each process compiles its own."""

if _folder is not None:
    os.environ.setdefault("NUMBA_CACHE_DIR", str(_folder))  # read when numba is imported
