"""One fill in one call."""

import time
from typing import Any

from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import Filler
from intarsia.engine.ipc.messages import Fill, Filled


def run_fill(filler: Filler, request: Fill, **control: Any) -> Filled:
    """Fill now; ``control`` has the options of ``FillControl.for_request``."""
    options = {"received_at": time.monotonic()} | control
    return filler.fill(request, FillControl.for_request(request, **options))
