"""Runs a command under limits of the system: ``python limits.py JSON COMMAND…``."""

import json
import os
import resource
import sys
from collections.abc import Sequence


def limited(command: Sequence[str], **limits: int) -> tuple[str, ...]:
    """Return a command that runs another one, and all that it starts, under these limits.

    Each is named as in ``resource``, without RLIMIT_: ``FSIZE=4096``.
    """
    return (sys.executable, __file__, json.dumps(limits), *command)


if __name__ == "__main__":
    for name, limit in json.loads(sys.argv[1]).items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))
    os.execv(sys.argv[2], sys.argv[2:])
