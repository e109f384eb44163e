"""Messages to and from a baseline's program: plain values that can cross a process."""

from collections.abc import AsyncGenerator, Mapping
from typing import Protocol, runtime_checkable

import msgspec


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """What stands round the hole, and what ends it. ``suffix`` is never empty.

    ``keeps_context``: what was read is to be held for the next prompt, by a program to which that
    has to be said.
    """

    prefix: str
    suffix: str
    stop: tuple[str, ...]
    max_tokens: int
    keeps_context: bool = False


class Written(msgspec.Struct, frozen=True, kw_only=True, tag="written"):
    """What the program wrote up to an end token or a stop text. What is not known is None."""

    text: str
    ms: float  # as the program saw it
    read_ms: float  # of them, until the context was read
    num_forwards: int  # after the prefill
    num_tokens: int  # of the text, without what ended it
    num_read: int | None = None  # context tokens computed for it
    num_reused: int | None = None


class NoAnswer(Exception):
    """The program has no answer to this hole; it may have one to others. One line."""


class Program(Protocol):
    """A program that runs, its model loaded."""

    @property
    def details(self) -> Mapping[str, str]:
        """What it is and how it was started."""
        ...

    @property
    def pid(self) -> int:
        """The process that computes."""
        ...

    async def write(self, prompt: Prompt) -> Written:
        """Go on behind the prefix. Raises NoAnswer, or EvaluationFault where it cannot go on."""
        ...


@runtime_checkable
class StreamingProgram(Program, Protocol):
    """A program that shows its text while it writes it."""

    def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """Yield pieces of the text; who closes the generator ends the work. Raises NoAnswer."""
        ...
