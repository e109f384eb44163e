"""Changes the system under a process and all that it starts, by a ``sitecustomize`` module."""

from pathlib import Path

JUMPING_CLOCK = """
import time
from pathlib import Path

_real, _jump = time.time, Path({folder!r}) / "jump"
time.time = lambda: _real() + float(_jump.read_text())
"""

NO_FLOCK = """
import errno, fcntl

def _flock(*_):
    raise OSError(errno.ENOLCK, "No locks available")

fcntl.flock = _flock
"""

NO_UNIX_SOCKETS = """
import errno, socket

class _Socket(socket.socket):
    def bind(self, address):
        if self.family == socket.AF_UNIX:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        super().bind(address)

socket.socket = _Socket
"""


def patched(folder: Path, source: str) -> dict[str, str]:
    """Return the variables by which Python processes run this source at their start."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(source.replace("{folder!r}", repr(str(folder))))
    return {"PYTHONPATH": str(folder)}
