"""Every request of a soak: when it was sent, what it was answered with, and whether it is stuck."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

from pygls.exceptions import JsonRpcException

STUCK_AFTER_S = 120.0
"""The product's own waits, added up: a deadline of 20 s, 3 s of grace, a minute for an engine that
may be starved, and 30 s in which another one starts. No answer until then is a stuck request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """``asked_s``: since the soak began. ``took_s``: until the answer, without time unread.

    ``outcome``: text, nothing, cancelled, error, stuck, or lost with a server that was killed.
    """

    client: int
    asked_s: float
    took_s: float
    outcome: str


@dataclass(kw_only=True, slots=True, eq=False)
class _Pending:
    client: int
    asked_at: float
    future: "asyncio.Future[Any]"
    unread_s: float = 0.0
    is_stuck: bool = False

    def age_s(self) -> float:
        return time.monotonic() - self.asked_at - self.unread_s


@dataclass(kw_only=True, slots=True)
class Asks:
    """All requests of all clients, and the reasons that the servers logged for empty answers."""

    began_at: float = field(default_factory=time.monotonic)
    answers: list[Answer] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    num_replaced: int = 0  # empty answers to requests that the client itself had outdated
    _pending: dict[int, _Pending] = field(default_factory=dict)
    _ids: "itertools.count[int]" = field(default_factory=itertools.count)

    def elapsed_s(self) -> float:
        return time.monotonic() - self.began_at

    async def ask(self, client: int, request: "Awaitable[Any]") -> Any:
        """Return the answer; None where there is none, for whatever reason."""
        id, future = next(self._ids), asyncio.ensure_future(request)
        pending = _Pending(client=client, asked_at=time.monotonic(), future=future)
        self._pending[id] = pending
        asked_s = self.elapsed_s()
        answer: Any = None
        try:
            answer = await future
            outcome = "nothing" if answer is None else "text"
        except asyncio.CancelledError:
            if not pending.is_stuck:
                raise
            outcome = "stuck"
        except JsonRpcException as error:
            outcome = "cancelled" if error.code == -32800 else "error"
            if outcome == "error":
                self.errors[str(error)] += 1
        except (RuntimeError, OSError):
            outcome = "lost"  # pytest-lsp: the process has ended
        finally:
            del self._pending[id]
        self.answers.append(
            Answer(client=client, asked_s=asked_s, took_s=pending.age_s(), outcome=outcome)
        )
        return answer

    def unread(self, client: int, seconds: float) -> None:
        """Take off the time in which the client did not read."""
        for pending in self._pending.values():
            if pending.client == client:
                pending.unread_s += min(seconds, time.monotonic() - pending.asked_at)

    def find_stuck(self, deaf: frozenset[int]) -> None:
        """End the requests that had no answer in time; ``deaf`` clients do not read now."""
        for pending in list(self._pending.values()):
            if pending.age_s() > STUCK_AFTER_S and pending.client not in deaf:
                pending.is_stuck = True
                self.stuck.append(f"client {pending.client} at {self.elapsed_s():.0f} s")
                pending.future.cancel()

    @property
    def num_pending(self) -> int:
        return len(self._pending)
