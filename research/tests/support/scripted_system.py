"""A system that answers by rule, and keeps a diary of its requests."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from intarsia_research.evaluation.answer import Answer
from intarsia_research.evaluation.case import Case
from intarsia_research.evaluation.record import SystemInfo


class ScriptedSystem:
    """``answer`` may raise. Several systems may share a diary: all events in order."""

    def __init__(self, name: str, diary: list[str], answer: Callable[[Case], str]) -> None:
        self.name = name
        self.diary = diary
        self.info = SystemInfo(name=name, way="script", model=None, details={})
        self._answer = answer

    @asynccontextmanager
    async def ready(self) -> AsyncIterator["ScriptedSystem"]:
        self.diary.append(f"{self.name} opened")
        try:
            yield self
        finally:
            self.diary.append(f"{self.name} closed")

    async def fill(self, case: Case) -> Answer:
        self.diary.append(f"{self.name} {case.id}")
        return Answer(text=self._answer(case), reason=None, ms=1.0, num_read=7)
