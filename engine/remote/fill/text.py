"""Fill holes on a server that takes text: its rules for the end are those of our own models.

Nothing can hold such a server to a half-typed word. It is asked from before the word first, as the
model may write the whole word as one token, and asked once more from after the word if its text
does not begin with that.
"""

import math
import re
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from msgspec.structs import replace

from intarsia.engine.errors import DeadlinePassed
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.read_request import FillTask
from intarsia.engine.families.stop_rules import find_text_end, may_end_here
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import CanvasToken, Fill, FinishReason, ProjectContext
from intarsia.engine.remote.dialects.generation import Chunk, Generation, TextPiece
from intarsia.engine.remote.fill.session import (
    CausalSession,
    Outcome,
    Run,
    Written,
)


class PromptText:
    """Writes prompts of token ids as text."""

    def __init__(self, text: FimTokenizer) -> None:
        self._text = text
        self._marks = text.special_tokens()
        longest_first = sorted(self._marks.values(), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def render(self, ids: Sequence[int], word: str = "") -> str:
        """Return the text of these ids. Raises ValueError where the user's text has a mark."""
        begin = list(self._text.begin_ids)
        rest = ids[len(begin) :] if list(ids[: len(begin)]) == begin else ids
        parts: list[str] = []
        for is_mark, run in groupby(rest, key=self._marks.__contains__):
            if is_mark:
                parts += [self._marks[token] for token in run]
            else:  # a window may begin or end within a character: that is left out
                parts.append(b"".join(map(self._text.bytes_of, run)).decode("utf-8", "ignore"))
        prompt = "".join(parts)
        wanted = [self._marks[token] for token in rest if token in self._marks]
        self._require_only(wanted, prompt + word)
        return prompt

    def num_marks(self, text: str) -> int:
        """Return how many marks a text has."""
        return len(self._pattern.findall(text))

    def first_mark(self, text: str) -> int | None:
        """Return the offset of the first mark in a text, None without one."""
        found = self._pattern.search(text)
        return None if found is None else found.start()

    def without_marked(self, project: ProjectContext | None) -> ProjectContext | None:
        """Return code of other files without the chunks that have marks in them."""
        if project is None or self.first_mark(project.repository + "\n" + project.path) is not None:
            return None
        plain = (it for it in project.chunks if self.first_mark(f"{it.path}\n{it.text}") is None)
        return replace(project, chunks=tuple(plain))

    def _require_only(self, wanted: Sequence[str], prompt: str) -> None:
        found = self._pattern.findall(prompt)
        if found == wanted:
            return
        pairs = zip(found, [*wanted, *[""] * len(found)], strict=False)
        mark = next((own for own, expected in pairs if own != expected), "a mark")
        raise ValueError(
            f"the text around the hole has {mark} in it, which a server that takes text obeys: "
            "use a model of this machine, or a server that takes token ids"
        )


_OTHER_TEMPERATURE = 0.8
"""Other answers than the likeliest are drawn at this temperature."""


@dataclass(kw_only=True, slots=True)
class WrittenText(Written):
    """The text that a server has written after the half-typed word."""

    pieces: list[TextPiece] = field(default_factory=list)
    end: int | None = None  # characters up to the hole's end, once that is known

    @property
    def text(self) -> str:
        """All that was written, what follows the hole's end included."""
        return "".join(piece.text for piece in self.pieces)

    def outcome(self) -> Outcome:
        """Return the pieces up to the hole's end; the last one is cut there."""
        known = [piece.entropy for piece in self.pieces if piece.entropy is not None]
        is_known = known and len(known) == len(self.pieces)
        tokens, left = [], len(self.text) if self.end is None else self.end
        for piece in self.pieces:
            if left <= 0:
                break
            confidence = None if piece.log_p is None else math.exp(min(piece.log_p, 0.0))
            tokens.append(CanvasToken(piece.text[:left], confidence, True))
            left -= len(piece.text)
        mean_entropy = math.fsum(known) / len(known) if is_known else None
        return Outcome(tuple(tokens), len(self.pieces), mean_entropy)


class _OtherWord(Exception):
    """The server's text does not begin with the half-typed word."""


class TextRun:
    """One hole while it is written; the prompt ends where the half-typed ``word`` begins."""

    def __init__(self, session: "TextSession", task: FillTask, prompt: str, word: str) -> None:
        self._session = session
        self._request = task.request
        self._marks, self._prompt, self._word = session.marks, prompt, word
        self._checkpoint = task.control.checkpoint_in_time
        self._written = WrittenText()
        self._expected = word  # what the server has still to write of the half-typed word
        # A stop text in the half-typed word itself would end the server's text there.
        may_stop = any(stop and stop[0] in word for stop in task.request.stop)
        self._has_stops = not may_stop

    def run(self, on_pieces: Callable[[WrittenText], None]) -> WrittenText:
        """Return the hole, ``on_pieces`` after each event. Raises RemoteError, Cancelled."""
        reason: FinishReason | None = None
        while reason is None:
            try:
                reason = self._ask(on_pieces)
            except DeadlinePassed:
                reason = "deadline"
            except _OtherWord:
                self._expected = ""
        self._written.finish_reason = reason
        return self._written

    def _ask(self, on_pieces: Callable[[WrittenText], None]) -> FinishReason | None:
        """Ask the server to write on; return why the hole ends, None if it is to be asked again."""
        generation, stop = self._generation(), None
        num_left = self._num_left()
        with closing(self._session.stream(generation, self._checkpoint)) as chunks:
            for chunk in chunks:
                self._checkpoint()
                self._note(chunk)
                stop = chunk.stop or stop
                for piece in chunk.pieces:
                    self._take(piece)
                if chunk.pieces and not self._expected:
                    is_ended = self._is_ended()
                    on_pieces(self._written)
                    if is_ended:
                        return "end_of_hole"
        if self._expected:
            raise _OtherWord
        if stop == "limit" and generation.max_tokens < num_left and self._may_ask_on(num_left):
            return None
        return self._limit_reason() if stop == "limit" else self._after_end()

    def _may_ask_on(self, num_left: int) -> bool:
        """Prepare for the next part, and tell whether this one brought the text further.

        The last piece is asked for once more: mlx-lm fails where a prompt is all that it holds.
        """
        if self._num_left() >= num_left - 1:
            return False
        self._written.pieces.pop()
        return True

    def _num_left(self) -> int:
        """Return how many pieces may still come."""
        request = self._request
        limit = min(request.max_tokens, request.max_steps or request.max_tokens)
        return limit - len(self._written.pieces)

    def _note(self, chunk: Chunk) -> None:
        self._written.model = chunk.model or self._written.model
        if chunk.reading is not None and not self._written.pieces:
            self._written.readings.append(chunk.reading)

    def _take(self, piece: TextPiece) -> None:
        """Add a piece, without what it has of the half-typed word. Raises _OtherWord."""
        if self._written.first_at is None:
            self._written.first_at = time.monotonic()
        text, expected = piece.text, self._expected
        if not text.startswith(expected) and not expected.startswith(text):
            raise _OtherWord
        self._expected = expected[len(text) :]
        if rest := text[len(expected) :]:
            self._written.pieces.append(
                TextPiece(text=rest, log_p=piece.log_p, entropy=piece.entropy)
            )

    def _is_ended(self) -> bool:
        """Find the hole's end in what was written, and tell whether it is there."""
        text = self._written.text
        ends = [find_text_end(text, self._request), self._marks.first_mark(text)]
        self._written.end = min((end for end in ends if end is not None), default=None)
        return self._written.end is not None

    def _limit_reason(self) -> FinishReason:
        request = self._request
        is_by_steps = request.max_steps is not None and request.max_steps < request.max_tokens
        return "max_steps" if is_by_steps else "max_tokens"

    def _after_end(self) -> FinishReason | None:
        """Return why the hole ends where the server ended its text, None if it may not end."""
        text = self._written.text
        if not self._has_stops or may_end_here(text, max_open=self._request.max_open):
            return "end_of_hole"
        num_marks, before = self._marks.num_marks, self._prompt
        if num_marks(before + self._word + text) != num_marks(before):
            return "end_of_hole"  # what is typed and written would act as a mark together
        self._has_stops = False  # an open bracket holds the stop texts back
        return None

    def _generation(self) -> Generation:
        request = self._request
        temperature = request.temperature or 0.0
        if request.alternative:
            temperature = max(temperature, _OTHER_TEMPERATURE)
        typed = self._word.removesuffix(self._expected)
        num_left = max(self._num_left(), 1)
        return Generation(
            prompt=self._prompt + typed + self._written.text,
            max_tokens=min(num_left, self._session.dialect.part_tokens or num_left),
            stop=request.stop if self._has_stops else (),
            temperature=temperature,
            seed=request.seed + request.alternative,
        )


class TextSession(CausalSession):
    """Fills holes on a server that takes text. Reading ahead would replace what is needed next."""

    slots = 1  # it is often one user's

    @cached_property
    def marks(self) -> PromptText:
        """The marks of the model, which no text of the user's may have."""
        return PromptText(self.text)

    def _begin(self, request: Fill, control: FillControl) -> tuple[int, Run]:
        started_at = time.monotonic()
        plain_project = self.marks.without_marked(request.project)
        task = self._opened(replace(request, project=plain_project), control)
        word = task.healed.decode()
        text_run = TextRun(self, task, self.marks.render(task.context, word), word)

        def run(report: Callable[[Written], None]) -> Written:
            written = text_run.run(report)
            if written.first_at is not None:
                num_missing = self.num_missing(task.context)
                self.speed.add(num_missing, written.first_at - started_at)
            self.held.note(task.context)
            return written

        return task.num_project, run
