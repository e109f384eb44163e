"""Whoever can fill a case."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from intarsia.research.evaluation.answer import Answer
from intarsia.research.evaluation.case import Case
from intarsia.research.evaluation.record import SystemInfo


class ReadySystem(Protocol):
    """A system that is ready: its model is loaded, so that no fill's time holds the load."""

    @property
    def info(self) -> SystemInfo: ...

    async def fill(self, case: Case) -> Answer:
        """Fill one hole.

        A fault of this hole is an Answer with ``is_failure``; where no other hole could be filled
        either (the engine is gone for good, no memory) it raises EvaluationFault.
        """
        ...


class System(Protocol):
    """One that can be made ready, and is closed at the end."""

    @property
    def name(self) -> str: ...

    def ready(self) -> AbstractAsyncContextManager[ReadySystem]: ...
