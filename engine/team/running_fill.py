"""One fill on its way through the worker's thread, as a task of the event loop awaits it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

from intarsia.engine.ipc.messages import Failed, Fill, Filled, Step
from intarsia.engine.service.job import Answer, Job
from intarsia.engine.service.worker import Worker


class RunningFill:
    """A fill that is submitted at once. ``close`` must follow; ``on_end`` is called by it.

    ``on_answer`` is called once, on any thread, as soon as the model works on this fill no more:
    for a fill that was closed before, too.
    """

    def __init__(
        self,
        worker: Worker,
        request: Fill,
        *,
        on_answer: Callable[[Filled | Failed], None],
        on_end: Callable[[], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self._worker = worker
        self._on_end = on_end
        self._is_closed = False
        self._arrived: asyncio.Queue[Step | Answer] = asyncio.Queue()

        def arrive(message: Step | Answer) -> None:
            if isinstance(message, Filled | Failed):
                on_answer(message)
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._arrived.put_nowait, message)

        self._job = Job(
            request=request,
            client=request.owner,
            received_at=time.monotonic(),
            deliver=arrive,
            on_step=arrive,
        )
        worker.submit(self._job)

    def close(self) -> None:
        """Cancel the fill, unless it has ended. Further calls do nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._worker.cancel(self._job)
            self._on_end()

    async def messages(self) -> AsyncIterator[Step | Filled | Failed]:
        """Yield the steps, if the request watches, and last the answer."""
        while True:
            message = await self._arrived.get()
            if isinstance(message, Step):
                yield message
            elif isinstance(message, Filled | Failed):
                yield message
                return

    async def answer(self) -> Filled | Failed:
        answer: Filled | Failed | None = None
        async for message in self.messages():
            if not isinstance(message, Step):
                answer = message
        assert answer is not None, "a job is always answered"
        return answer
