"""A folder for targets that read files: it ends with the process, or with its job."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def scratch() -> Path:
    """Return this process's folder."""
    folder = Path(tempfile.mkdtemp(prefix="intarsia-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
