"""Have a server read a context, a long one in parts where only so it can be cancelled.

llama.cpp notices a closed connection only between two batches of a prompt, which on a processor
takes many seconds. A part is what the server reads in a quarter of a second.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from intarsia.engine.families.reading_speed import ReadingSpeed
from intarsia.engine.remote.dialects.generation import Dialect, Generation, Reading
from intarsia.engine.remote.fill.held_contexts import HeldContexts
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
        with closing(self._link.generate(self._dialect, generation, checkpoint)) as chunks:
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
