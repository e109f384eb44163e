"""Messages to and from a baseline's program: plain values that can cross a process."""

from collections.abc import AsyncGenerator, Mapping
from typing import Protocol, runtime_checkable

import msgspec


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """The text around a hole, and what ends the fill. ``suffix`` is never empty.

    ``keeps_context``: keep the KV cache for the next prompt (for programs that need to be told).
    """

    prefix: str
    suffix: str
    stop: tuple[str, ...]
    max_tokens: int
    keeps_context: bool = False


class Written(msgspec.Struct, frozen=True, kw_only=True, tag="written"):
    """What the program wrote up to an end token or a stop text. None: unknown."""

    text: str
    ms: float  # measured by the program
    read_ms: float  # the prefill's part of ms
    num_forwards: int  # after the prefill
    num_tokens: int  # of the text, without an end token
    num_read: int | None = None  # context tokens read for it
    num_reused: int | None = None


class NoAnswer(Exception):
    """The program has no answer to this hole, but may have to others. The message is one line."""


class Program(Protocol):
    """A running program with its model loaded."""

    @property
    def details(self) -> Mapping[str, str]:
        """Version and settings, for reports."""
        ...

    @property
    def pid(self) -> int:
        """The process that runs the model."""
        ...

    async def write(self, prompt: Prompt) -> Written:
        """Fill the hole. Raise NoAnswer, or EvaluationFault if the program has ended."""
        ...


@runtime_checkable
class StreamingProgram(Program, Protocol):
    """A program that can stream its text."""

    def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """Yield pieces of the text; closing the generator cancels the work. Raise NoAnswer."""
        ...
