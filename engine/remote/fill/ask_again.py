"""Ask again where a server ended before its answer did: the user need not see that.

Several servers may share one address, and then another one answers. Nothing was changed by the
request that was cut off, so that it can be sent again. A server that refuses, is busy or is slow is
not asked again: that would make matters worse.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from intarsia.engine.errors import RemoteError
from intarsia.engine.fill_control import FillControl
from intarsia.engine.remote.http.watch import POLL_S

WAITS_S = (0.1, 0.4)
"""Before the second and the third try: a balancer soon notices that a server has ended."""

WITHIN_S = 5.0
"""A user has not waited longer than this when a request is sent again."""

_Answer = TypeVar("_Answer")


def ask_again(ask: Callable[[], _Answer], control: FillControl) -> _Answer:
    """Return what ``ask`` returns, at the second or third try if the first were cut off.

    Raises what the last try raises, and what the control's checkpoint raises.
    """
    started_at = time.monotonic()
    for wait_s in WAITS_S:
        try:
            return ask()
        except RemoteError as error:
            is_long_ago = time.monotonic() - started_at > WITHIN_S
            if not error.is_cut_off or is_long_ago or control.is_late:
                raise
        _wait(wait_s, control.checkpoint)
    return ask()


def _wait(seconds: float, checkpoint: Callable[[], None]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        checkpoint()
        time.sleep(min(left, POLL_S))
