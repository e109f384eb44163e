"""Have a server read a context, a long one in parts where only so it can be cancelled.

llama.cpp notices a closed connection only between two batches of a prompt, which on a processor
takes many seconds. A part is what the server reads in a quarter of a second.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from intarsia.engine.families.protocol import ReadingSpeed, common_prefix_length
from intarsia.engine.remote.dialects.generation import Dialect, Generation, Reading
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.fill.link import ServerLink

PART_S = 0.25
MIN_PART_TOKENS, MAX_PART_TOKENS = 64, 4_096
_FIRST_PART_TOKENS = 256  # before the server's speed is known


class ContextReader:
    """Reads contexts on a server that keeps them for the next request."""

    def __init__(self, link: ServerLink, dialect: Dialect, *, num_slots: int) -> None:
        self._link = link
        self._dialect = dialect
        self.held = HeldContexts(max_held=num_slots)
        self.speed = ReadingSpeed()

    def read(
        self, prompt: Sequence[int], checkpoint: Callable[[], None], *, whole: bool
    ) -> list[Reading]:
        """Read a prompt, all but the last part unless ``whole``; return each part's reading.

        A whole one is read ahead: it gives way to fills.

        Raises RemoteError, and what ``checkpoint`` raises, between two parts at the latest.
        """
        readings: list[Reading] = []
        end = self.held.num_held(prompt)
        if not self._dialect.reads_in_parts:
            if whole and end < len(prompt):
                readings.append(self._read_part(prompt, checkpoint, is_background=whole))
            return readings
        while end < len(prompt) and (whole or len(prompt) - end > self._part_tokens()):
            part_tokens = self._part_tokens()
            end = min(end + part_tokens, len(prompt))
            reading = self._read_part(prompt[:end], checkpoint, is_background=whole)
            readings.append(reading)
            if reading.num_read > 2 * part_tokens:
                break  # others use this slot too: in parts, all would be read again and again
        return readings

    def note(self, ids: Sequence[int], reading: Reading | None) -> None:
        """Note what the server holds after a request."""
        if reading is not None:
            num_lost = self.held.num_held(ids[: reading.num_read + reading.num_reused])
            if reading.num_reused + 1 < num_lost // 2:
                self.held.forget()
            self.speed.add(reading.num_read, reading.ms / 1000)
        self.held.note(ids)

    def _read_part(
        self, ids: Sequence[int], checkpoint: Callable[[], None], *, is_background: bool
    ) -> Reading:
        generation = Generation(prompt=ids, max_tokens=1, num_likely=1, is_background=is_background)
        reading, started_at = Reading(num_read=0, num_reused=0, ms=0), time.monotonic()
        with closing(self._link.stream(self._dialect, generation, checkpoint)) as chunks:
            for chunk in chunks:
                reading = chunk.reading or reading
        if not reading.ms:  # the server does not say
            reading = replace(reading, ms=1000 * (time.monotonic() - started_at))
        self.note(ids, reading)
        return reading

    def _part_tokens(self) -> int:
        speed = self.speed.tokens_per_s
        if speed is None:
            return _FIRST_PART_TOKENS
        return max(MIN_PART_TOKENS, min(int(speed * PART_S), MAX_PART_TOKENS))


class HeldContexts:
    """The ids that were sent last and that the server wrote after these."""

    def __init__(self, *, max_held: int) -> None:
        self._held: list[list[int]] = []  # least recently used first
        self._max_held = max_held

    def num_held(self, ids: Sequence[int]) -> int:
        """Return how many leading ids the server need not read again."""
        return max((common_prefix_length(held, ids) for held in self._held), default=0)

    def note(self, ids: Sequence[int]) -> None:
        """Note that a slot holds these ids now, in the place of those that they continue."""
        num_shared = self.num_held(ids)
        others = [held for held in self._held if common_prefix_length(held, ids) < num_shared]
        if 2 * num_shared < len(ids):  # a new context: it takes the slot that was idle longest
            others = self._held
        self._held = [*others, list(ids)][-self._max_held :]

    def forget(self) -> None:
        """Forget all: the server has given its slots to other users."""
        self._held = []


_SLOT_SHARE = 3 / 8
"""Of a slot, for prefix and suffix; half as much each for other files and for text after them."""


def context_room(server: Server, max_context_tokens: int) -> int:
    """Return the most tokens of prefix and suffix, at least 1."""
    if server.context_tokens is None:
        return max_context_tokens
    return min(max_context_tokens, max(int(server.context_tokens * _SLOT_SHARE), 1))


def num_before_characters(raw: bytes) -> int:
    """Return how many leading bytes are the end of a character that began before them."""
    return next(start for start in range(len(raw) + 1) if _is_utf8(raw[start:]))


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
