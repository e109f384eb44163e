"""Fill holes on a server that takes token ids; a hole ends by the rules of our own models.

The server gets the stop texts, so that most holes are one request. Where it ends too early, as an
open bracket forbids it, the text is continued by another request, which rereads nothing.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from intarsia.engine.errors import DeadlinePassed
from intarsia.engine.families.masked_causal.hole_text import HoleText
from intarsia.engine.families.masked_causal.read_request import FillTask
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import fill_at
from intarsia.engine.ipc.messages import Fill, FinishReason, Prefetch
from intarsia.engine.remote.dialects.generation import (
    Chunk,
    Generation,
    IdsDialect,
    LikelyToken,
    NewToken,
    Reading,
    StopKind,
    entropy_of,
)
from intarsia.engine.remote.fill.session import (
    CausalSession,
    Outcome,
    Run,
    Written,
)
from intarsia.engine.remote.http.exchange import unusable


@dataclass(kw_only=True, slots=True)
class WrittenIds(Written):
    """The hole's ids, their probabilities, and entropies of reported tokens and one rest (nats)."""

    hole_text: HoleText
    ids: list[int] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)

    def outcome(self) -> Outcome:
        num = len(self.ids)
        tokens = self.hole_text.tokens(self.ids, self.confidences, num_committed=num)
        return Outcome(tokens, num, math.fsum(self.entropies) / max(num, 1))

    def add(self, tokens: Sequence[NewToken]) -> None:
        for token in tokens:
            self.ids.append(token.id)
            self.confidences.append(min(math.exp(min(token.log_p, 0.0)), 1.0))
            self.entropies.append(entropy_of([other.log_p for other in token.likeliest]))

    def cut(self, length: int) -> None:
        """Keep the first tokens only."""
        del self.ids[length:], self.confidences[length:], self.entropies[length:]


_NUM_LIKELY_OF_WORD = 200
"""Some of this many likeliest tokens usually continue a half-typed word."""


class HoleRun:
    """One hole while it is written. ``on_tokens`` is called after each piece from the server."""

    def __init__(self, session: "IdsSession", task: FillTask) -> None:
        self._session = session
        self._text = session.text
        self._task = task
        self._checkpoint = task.control.checkpoint_in_time
        self._hole_text = HoleText(session.text, task)
        self._written = WrittenIds(hole_text=self._hole_text)
        # A stop text could begin in the half-typed bytes, which the server writes too.
        word = task.healed.decode("utf-8", "replace")
        self._has_server_stops = not any(stop and stop[0] in word for stop in task.request.stop)
        self._must_go_on = False  # an end token came where the hole may not end
        self._is_ended = False  # the server has ended the text, and the hole may end there

    def run(self, on_tokens: Callable[[WrittenIds], None]) -> WrittenIds:
        """Return the hole's tokens up to its end. Raises RemoteError, Cancelled."""
        written = self._written
        try:
            context = self._task.context
            written.readings += self._session.read(context, self._checkpoint, whole=False)
            if self._task.request.alternative:
                self._begin_otherwise(self._task.request.alternative)
            reason = self._end_reason()
            while reason is None:
                self._ask(on_tokens)
                reason = self._end_reason()
        except DeadlinePassed:
            reason = "deadline"
        written.finish_reason = reason
        return written

    def _ask(self, on_tokens: Callable[[WrittenIds], None]) -> None:
        """Ask the server to write on, until the hole or its answer ends."""
        generation, written = self._generation(), self._written
        num_before, stop, reading = len(written.ids), None, None
        try:
            with closing(self._session.stream(generation, self._checkpoint)) as chunks:
                for chunk in chunks:
                    self._checkpoint()
                    self._take(chunk)
                    reading, stop = chunk.reading or reading, chunk.stop or stop
                    is_done = self._is_done(generation, num_before)
                    if chunk.tokens:
                        on_tokens(written)
                    if is_done:
                        break
        finally:
            if reading is not None:
                self._session.note([*self._task.context, *written.ids][:-1], reading)
        if num_before == 0 and reading is not None:
            written.readings.append(reading)
        is_cut_short = stop == "limit" and len(written.ids) - num_before < generation.max_tokens
        self._after("end_token" if is_cut_short else stop)

    def _is_done(self, generation: Generation, num_before: int) -> bool:
        """Whether the hole needs no more of this answer."""
        written, most = self._written, num_before + generation.max_tokens
        has_too_many = len(written.ids) > most  # the server goes on regardless
        written.cut(most)
        return has_too_many or self._hole_text.num_until_end(written.ids) is not None

    def _take(self, chunk: Chunk) -> None:
        if chunk.tokens and self._written.first_at is None:
            self._written.first_at = time.monotonic()
        self._written.add(chunk.tokens)
        self._require_beginning()
        self._written.model = chunk.model or self._written.model

    def _require_beginning(self) -> None:
        """Raise RemoteError if the text does not begin with the half-typed bytes."""
        healed = self._task.healed
        raw = b"".join(map(self._text.bytes_of, self._written.ids[: len(healed)]))
        if not raw.startswith(healed) and not healed.startswith(raw):
            raise unusable(self._session.link.remote, "its text does not continue what is typed")

    def _after(self, stop: StopKind | None) -> None:
        """Choose how the text goes on where the server ended it, and the hole has not."""
        ids = self._written.ids
        had_to_go_on, self._must_go_on = self._must_go_on, False
        is_end_token = bool(ids) and ids[-1] in self._text.end_ids
        if is_end_token or stop == "end_token":
            num_before_end = len(ids) - is_end_token
            if had_to_go_on or self._hole_text.may_end(ids[:num_before_end]):
                self._is_ended = True
            else:
                self._written.cut(num_before_end)
                self._must_go_on = True
        elif stop == "stop_text":
            self._is_ended = not self._has_server_stops
            self._has_server_stops = False

    def _end_reason(self) -> FinishReason | None:
        """Return why the hole ends after the tokens so far, None if it goes on."""
        num_needed = self._hole_text.num_until_end(self._written.ids)
        if num_needed is not None:
            self._written.cut(num_needed)
            return "end_of_hole"
        if self._is_ended:
            return "end_of_hole"
        request = self._task.request
        if len(self._written.ids) >= request.max_tokens:
            return "max_tokens"
        if request.max_steps is not None and len(self._written.ids) >= request.max_steps:
            return "max_steps"
        return None

    def _generation(self) -> Generation:
        request, written = self._task.request, self._written
        limit = min(request.max_tokens, request.max_steps or request.max_tokens)
        num_written = sum(len(self._text.bytes_of(token)) for token in written.ids)
        beginning = self._task.healed[num_written:]  # the half-typed bytes that are to be written
        generation = Generation(
            prompt=[*self._task.context, *written.ids],
            # A grammar makes each token dearer: it is used for those of the half-typed word only.
            max_tokens=1 if beginning else limit - len(written.ids),
            stop=request.stop if self._has_server_stops else (),
            beginning=beginning,
            temperature=request.temperature or 0.0,
            seed=request.seed,
            is_background=request.is_background,
        )
        if self._must_go_on:
            return replace(generation, max_tokens=1, forbidden=sorted(self._text.end_ids))
        return generation

    def _begin_otherwise(self, rank: int) -> None:
        """Choose the ``rank``-th next likely first token of those that continue the given text."""
        healed = self._task.healed
        num_likely = _NUM_LIKELY_OF_WORD if healed else rank + 1
        generation = Generation(
            prompt=self._task.context, max_tokens=1, num_likely=max(num_likely, rank + 1)
        )
        with closing(self._session.stream(generation, self._checkpoint)) as chunks:
            first = [chunk for chunk in chunks if chunk.tokens]
        if not first:
            return
        self._written.readings += [c.reading for c in first[:1] if c.reading is not None]
        allowed = set(self._text.continuing(healed)) if healed else None
        likeliest: list[LikelyToken] = [
            token
            for token in first[0].tokens[0].likeliest
            if allowed is None or token.id in allowed
        ]
        if likeliest:
            chosen = likeliest[min(rank, len(likeliest) - 1)]
            likely = first[0].tokens[0].likeliest
            self._written.add([NewToken(id=chosen.id, log_p=chosen.log_p, likeliest=likely)])


PART_S = 0.25
MIN_PART_TOKENS, MAX_PART_TOKENS = 64, 4_096
_FIRST_PART_TOKENS = 256  # before the server's speed is known


class IdsSession(CausalSession):
    """Fills holes on one server that takes token ids, and keeps contexts for the next request.

    A long context is read in parts where only so it can be cancelled: llama.cpp notices a closed
    connection only between two batches of a prompt, which on a processor takes many seconds. A part
    is what the server reads in a quarter of a second.
    """

    dialect: IdsDialect

    def _begin(self, request: Fill, control: FillControl) -> tuple[int, Run]:
        task = self._opened(request, control)
        return task.num_project, HoleRun(self, task).run

    def read_ahead(self, place: Prefetch, control: FillControl) -> None:
        """Ask the server to read a hole's context, its own window first unless the rest is read."""
        request = fill_at(place)
        task = self._opened(request, control)
        self.read(task.context, control.checkpoint, whole=True)
        if task.request.project != request.project:
            task = self._reader.read(request, control)
            self._reader.use(task)
            self.read(task.context, control.checkpoint, whole=True)
            self._project.note_read(task)

    def read_nearer(self, control: FillControl) -> None:
        """Ask the server to read up to a nearer boundary if the last hole was far after its own."""
        boundary = self._reader.boundary_to_prepare()
        if boundary is not None:
            self.read(boundary.context, control.checkpoint, whole=True)
            self._reader.remember(boundary)

    def read(
        self, prompt: Sequence[int], checkpoint: Callable[[], None], *, whole: bool
    ) -> list[Reading]:
        """Read a prompt, all but the last part unless ``whole``; return each part's reading.

        A whole one is read ahead: it gives way to fills.

        Raises RemoteError, and what ``checkpoint`` raises, between two parts at the latest.
        """
        readings: list[Reading] = []
        end = self.held.num_held(prompt)
        if not self.dialect.reads_in_parts:
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
        """Record what the server holds after a request."""
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
        with closing(self.stream(generation, checkpoint)) as chunks:
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
