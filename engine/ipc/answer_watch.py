"""Notices an engine that hangs: where an answer is overdue, it asks for its status. No sockets."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeAlias

from intarsia.engine.ipc.errors import EngineError
from intarsia.engine.ipc.messages import Status

GRACE_S = 3.0
"""How late an answer may be before the engine is asked; also how soon a cancel is answered."""

ASK_EVERY_S = 15.0
"""How long an answer without a deadline takes before the engine is asked, and asked again."""

STATUS_S = 5.0
"""An engine that does not tell its status within this time hangs: it tells it at any time.

The second time in a row it is given twice as long, as the machine may only be very busy."""

MAX_QUIET_S = 10.0
"""A model that makes no step in this time answers no overdue request any more."""

HANGS_AFTER_S = 30.0
"""After this time without a step it hangs: no step of a large model takes so long."""

MAX_QUIET_LOAD_S = 30 * 60.0
"""The same for a load, which tells no progress while it reads a large file from a slow disk."""

CONFIRM_S = 2.0
"""A quiet model is asked about twice, this far apart: a process that was paused has just woken."""

AskStatus: TypeAlias = Callable[[], Awaitable[Status]]


class _Finding(NamedTuple):
    """Why no answer comes. It may be a slow step, unless ``hangs``."""

    reason: str
    hangs: bool
    is_silent: bool = False


class AnswerWatch:
    """Knows when each answer is due. ``on_stuck`` gets the reason why none comes.

    Then nothing is due any more, and the next answers are given less time, until ``sign_of_life``.
    """

    def __init__(self, ask_status: AskStatus, on_stuck: Callable[[str], None]) -> None:
        self._ask_status = ask_status
        self._on_stuck = on_stuck
        self._due: dict[int, float] = {}  # by request: the loop's time
        self._timer: asyncio.TimerHandle | None = None
        self._check: asyncio.Task[None] | None = None
        self._is_suspect = False
        self.num_hangs = 0  # findings in a row
        self.is_silent = False  # at the last finding

    def expect(self, id: int, within_s: float) -> None:
        """Note a request that is to be answered within this time."""
        limit_s = min(within_s, GRACE_S) if self._is_suspect else within_s
        self._due[id] = _now() + limit_s
        self._set_timer()

    def expect_soon(self, id: int) -> None:
        """Note that a request was cancelled: its answer is due now."""
        if id in self._due:
            self._due[id] = min(self._due[id], _now() + GRACE_S)
            self._set_timer()

    def answered(self, id: int) -> None:
        self._due.pop(id, None)

    def sign_of_life(self) -> None:
        """Note that the model works."""
        self._is_suspect = False
        self.num_hangs = 0

    def close(self) -> None:
        self._due.clear()
        self._set_timer()
        if self._check is not None:
            self._check.cancel()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        is_checking = self._check is not None and not self._check.done()
        if self._due and not is_checking:
            at = min(self._due.values())
            self._timer = asyncio.get_running_loop().call_at(at, self._look)

    def _look(self) -> None:
        if any(due <= _now() for due in self._due.values()):
            self._check = asyncio.create_task(self._ask())
            self._check.add_done_callback(lambda _: self._set_timer())
        else:
            self._set_timer()

    async def _ask(self) -> None:
        try:
            finding = await self._find()
        except EngineError:
            return  # the connection has ended, which fails all requests
        if not self._is_overdue():
            return
        if finding is None:
            later = _now() + ASK_EVERY_S
            self._due = {id: max(due, later) for id, due in self._due.items()}
        else:
            self._due.clear()
            self._is_suspect = True
            self.num_hangs += finding.hangs
            self.is_silent = finding.is_silent
            self._on_stuck(finding.reason)

    def _is_overdue(self) -> bool:
        return any(due <= _now() for due in self._due.values())

    async def _find(self) -> _Finding | None:
        """Return why no answer comes, None if the engine works or has answered meanwhile."""
        finding = None
        for pause_s in (0.0, CONFIRM_S):
            await asyncio.sleep(pause_s)
            if not self._is_overdue():
                return None
            status = await self._status()
            if status is None:
                reason = f"it has not reported its status for {self._status_s():g} s"
                return _Finding(reason, hangs=True, is_silent=True)
            if (finding := _why_quiet(status)) is None:
                return None
        return finding

    async def _status(self) -> Status | None:
        """Return the engine's status, None if it does not tell it in time."""
        asking, limit_s = asyncio.ensure_future(self._ask_status()), self._status_s()
        try:
            while True:
                started_at = _now()
                await asyncio.wait([asking], timeout=limit_s)
                if asking.done():
                    return asking.result()
                if _now() - started_at < 2 * limit_s:
                    return None
                # This process was paused, or the machine slept: that time does not count.
        finally:
            asking.cancel()

    def _status_s(self) -> float:
        return 2 * STATUS_S if self._is_suspect else STATUS_S


def _why_quiet(status: Status) -> _Finding | None:
    is_loading = status.state == "loading"
    if status.quiet_s <= (MAX_QUIET_LOAD_S if is_loading else MAX_QUIET_S):
        return None
    reason = f"its model has made no step for {status.quiet_s:.0f} s"
    return _Finding(reason, hangs=is_loading or status.quiet_s > HANGS_AFTER_S)


def _now() -> float:
    return asyncio.get_running_loop().time()
