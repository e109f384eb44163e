"""The interface of everything that can fill a case: a system, and a system that is ready."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.record import SystemInfo


class ReadySystem(Protocol):
    """A system with its model loaded, so that no fill's time includes the load."""

    @property
    def info(self) -> SystemInfo: ...

    async def fill(self, case: Case) -> Answer:
        """Fill one hole.

        A failure of this hole is an Answer with ``is_failure``. If no other hole could be filled
        either (no engine, no memory), raise EvaluationFault.
        """
        ...


class System(Protocol):
    """A system that can be made ready, and is closed at the end of the block."""

    @property
    def name(self) -> str: ...

    def ready(self) -> AbstractAsyncContextManager[ReadySystem]: ...
