"""Send several requests to one server at once: what each waits for, they then wait for together.

The server runs them in the same passes, and on the way there they share the network's delay.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from intarsia.engine.errors import Cancelled
from intarsia.engine.remote.http.watch import POLL_S

T = TypeVar("T")


def ask_at_once(
    asks: Sequence[Callable[[Callable[[], None]], T]], checkpoint: Callable[[], None]
) -> list[T]:
    """Return the answers in order. Each function is called on a thread with its own checkpoint.

    ``checkpoint`` is called on this thread while they wait. What it or a request raises is raised
    here, after all other requests are closed.
    """
    is_over = threading.Event()

    def thread_checkpoint() -> None:
        if is_over.is_set():
            raise Cancelled

    with ThreadPoolExecutor(max(len(asks), 1), "canvas") as threads:
        try:
            futures = [threads.submit(ask, thread_checkpoint) for ask in asks]
            while True:
                done, waiting = wait(futures, timeout=POLL_S, return_when=FIRST_EXCEPTION)
                answers = [future.result() for future in futures if future in done]
                if not waiting:
                    return answers
                checkpoint()
        finally:
            is_over.set()
