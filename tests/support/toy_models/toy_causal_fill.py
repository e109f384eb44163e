"""One fill, the short way."""

import time
from typing import Any

from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Fill, Filled


def run_fill(filler: Filler, request: Fill, **changes: Any) -> Filled:
    """Fill now, uncancelled and unwatched unless told otherwise."""
    options: dict[str, Any] = {
        "received_at": time.monotonic(),
        "is_cancelled": lambda: False,
        "on_step": None,
    }
    return filler.fill(request, **(options | changes))
