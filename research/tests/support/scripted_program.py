"""A baseline's program that answers from a table, and counts how often it was started and asked."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from intarsia_research.evaluation.systems.baseline_program import NoAnswer, Program, Prompt, Written


class ScriptedProgram:
    """``answer`` gives the text for a prompt, or raises."""

    def __init__(self, answer: Callable[[Prompt], str]) -> None:
        self._answer = answer
        self.prompts: list[Prompt] = []
        self.num_starts = 0
        self.is_running = False
        self.details: Mapping[str, str] = {"version": "1"}
        self.pid = os.getpid()

    @asynccontextmanager
    async def started(self) -> AsyncIterator[Program]:
        self.num_starts += 1
        self.is_running = True
        try:
            yield self
        finally:
            self.is_running = False

    async def write(self, prompt: Prompt) -> Written:
        self.prompts.append(prompt)
        return Written(
            text=self._answer(prompt),
            ms=7.0,
            read_ms=2.0,
            num_forwards=3,
            num_tokens=4,
            num_read=50,
        )


def refuse(prompt: Prompt) -> str:
    """Answer no hole."""
    raise NoAnswer("it is too hot")
