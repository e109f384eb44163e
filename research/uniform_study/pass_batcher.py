"""Joins the forward passes of many fills into one: each fill runs in a thread of its own.

A fill that wants a pass waits until every other fill wants one, too, or has ended. So the denoising
loop stays the engine's, which knows one canvas.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class PassBatcher(Generic[Q, A]):
    """Runs fills side by side; ``answer_all`` makes one pass over the requests of all."""

    def __init__(self, answer_all: Callable[[Sequence[Q]], Sequence[A]]) -> None:
        self._answer_all = answer_all
        self._changed = Condition()
        self._waiting: list[tuple[Q, Future[A]]] = []
        self._num_running = 0

    def run(self, fills: Sequence[Callable[[Callable[[Q], A]], None]]) -> None:
        """Run all fills to their end; each gets the function that makes a pass.

        What a fill raises is raised here, after the others have ended.
        """
        self._num_running = len(fills)
        with ThreadPoolExecutor(len(fills)) as pool:
            ended = [pool.submit(self._run, fill) for fill in fills]
            while requests := self._next():
                self._answer(requests)
        for one in ended:
            one.result()

    def _run(self, fill: Callable[[Callable[[Q], A]], None]) -> None:
        try:
            fill(self._ask)
        finally:
            with self._changed:
                self._num_running -= 1
                self._changed.notify_all()

    def _ask(self, request: Q) -> A:
        answer: Future[A] = Future()
        with self._changed:
            self._waiting.append((request, answer))
            self._changed.notify_all()
        return answer.result()

    def _next(self) -> list[tuple[Q, "Future[A]"]]:
        """Return the requests of all fills that still run; none when all have ended."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) == self._num_running)
            requests, self._waiting = self._waiting, []
        return requests

    def _answer(self, requests: Sequence[tuple[Q, "Future[A]"]]) -> None:
        try:
            answers = self._answer_all([request for request, _ in requests])
        except BaseException as error:
            for _, answer in requests:
                answer.set_exception(error)
            raise
        for (_, answer), found in zip(requests, answers, strict=True):
            answer.set_result(found)
