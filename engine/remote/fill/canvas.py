"""Fill holes on a server that denoises canvases: choose its length there, then its tokens.

Each candidate length is one request of one step, all sent at once. The canvases are those of our
own model: the layout, the cleaning and the choice of a length are shared with it.
"""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from intarsia.engine.diffusion.candidate_lengths import NUM_SCORED, candidate_lengths
from intarsia.engine.errors import DeadlinePassed
from intarsia.engine.families.diffusion_gemma.answer import (
    Answer,
    HoleDraft,
    answer_of,
    finish_reason_of,
)
from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes, HoleLayout
from intarsia.engine.families.diffusion_gemma.read_request import (
    HoleTask,
    ModelLimits,
    RequestReader,
)
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import fill_at
from intarsia.engine.ipc.messages import Candidate, Fill, Prefetch
from intarsia.engine.remote.dialects.generation import (
    NewToken,
    Reading,
    UnusableAnswer,
    entropy_of,
)
from intarsia.engine.remote.dialects.vllm_canvas import MAX_STEPS, CanvasRequest, VllmCanvas
from intarsia.engine.remote.discovery.discover import Server
from intarsia.engine.remote.fill.link import ServerLink, ask_at_once
from intarsia.engine.remote.fill.session import (
    Outcome,
    Run,
    ServerSession,
    Written,
)
from intarsia.engine.remote.http.exchange import unusable


@dataclass(frozen=True, kw_only=True, slots=True)
class CanvasAnswer:
    """A canvas as the server wrote it. ``ids`` have the pins of the request, ``tokens`` may not.

    ``others`` were written for the same request, from other noise.
    """

    tokens: tuple[NewToken, ...]
    ids: tuple[int, ...]
    reading: Reading | None = None
    model: str | None = None
    others: "tuple[CanvasAnswer, ...]" = ()

    def hole(self, layout: HoleLayout) -> HoleDraft:
        """Return the tokens of the hole, with their probabilities at temperature 1."""
        written = self.tokens[layout.start : layout.end]
        return HoleDraft(
            ids=list(self.ids[layout.start : layout.end]),
            confidences=[math.exp(min(token.log_p, 0.0)) for token in written],
            entropies=[entropy_of([other.log_p for other in token.likeliest]) for token in written],
            is_accepted=[True] * len(written),
        )

    def log_p(self, layout: HoleLayout) -> float:
        """Return the log-probabilities of the hole's tokens, summed, as the last step had them."""
        return math.fsum(token.log_p for token in self.tokens[layout.start : layout.end])

    def surprise(self, layout: HoleLayout) -> float:
        """Return the mean surprise (nats) after the hole. Raises UnusableAnswer."""
        surprises = []
        for position, expected in scored_ids(layout).items():
            found = [one for one in self.tokens[position].likeliest if one.id == expected]
            if not found:
                raise UnusableAnswer("it lacks the probabilities that it was asked for")
            surprises.append(-found[0].log_p)
        return math.fsum(surprises) / len(surprises)


def scored_ids(layout: HoleLayout) -> dict[int, int]:
    """Return the ids that judge a length by their position; none where no suffix is shown."""
    shown = layout.ids[layout.end : layout.end + NUM_SCORED]
    return {layout.end + i: token for i, token in enumerate(shown) if token is not None}


_MANY_TOKENS = 128
"""A context with more tokens to read is read by one request first: the others then share it."""


@dataclass(kw_only=True, slots=True)
class WrittenHole(Written):
    """The hole so far. Each request is one forward pass of the server, or more."""

    task: HoleTask
    text: GemmaTokenizer
    draft: HoleDraft = field(default_factory=HoleDraft)
    others: list[HoleDraft] = field(default_factory=list)
    num_requests: int = 0

    @property
    def answer(self) -> Answer:
        return self._read(self.draft)

    def _read(self, draft: HoleDraft) -> Answer:
        return answer_of(draft, self.task.request, self.task.given, self.text)

    @property
    def num_read(self) -> int:
        """Context tokens that the first request read: the others share them."""
        return self.readings[0].num_read if self.readings else 0

    def outcome(self) -> Outcome:
        answer = self.answer
        others = {it.text: it for it in map(self._read, self.others) if it.text != answer.text}
        candidates = tuple(map(self._candidate, others.values()))
        return Outcome(answer.tokens, self.num_requests, answer.mean_entropy, candidates)

    def _candidate(self, answer: Answer) -> Candidate:
        return Candidate(
            text=answer.text,
            tokens=answer.tokens,
            mean_entropy=answer.mean_entropy,
            finish_reason=finish_reason_of(answer, "done", self.task.request),
        )


class CanvasRun:
    """One hole while it is written."""

    def __init__(self, session: "CanvasSession", task: HoleTask, control: FillControl) -> None:
        self._session = session
        self._task = task
        self._checkpoint = control.checkpoint_in_time
        self._written = WrittenHole(task=task, text=session.text)

    def run(self, on_canvas: Callable[[WrittenHole], None]) -> WrittenHole:
        """Return the hole, or its part at the deadline. Raises RemoteError, Cancelled."""
        task, written = self._task, self._written
        try:
            self._write(self._session.reader.lay_out(task, self._choose_length()), on_canvas)
            written.finish_reason = finish_reason_of(written.answer, "done", task.request)
        except DeadlinePassed:
            written.finish_reason = "deadline"
        return written

    def _choose_length(self) -> int:
        """Return the length at which the suffix surprises the model least."""
        task = self._task
        if task.draft:
            return len(task.draft)
        max_tokens = task.request.max_tokens
        # without a suffix to meet, the model itself ends the text
        lengths = candidate_lengths(max_tokens) if task.suffix else (max_tokens,)
        if len(lengths) == 1:
            return lengths[0]
        layouts = {length: self._session.reader.lay_out(task, length)[0] for length in lengths}
        judged = [length for length in lengths if scored_ids(layouts[length])]
        answers = self._ask_all([self._scoring(layouts[n]) for n in judged])
        # a canvas without a suffix scores as a uniform guess
        surprises = dict.fromkeys(lengths, math.log(self._session.text.num_tokens))
        for length, answer in zip(judged, answers, strict=True):
            try:
                surprises[length] = answer.surprise(layouts[length])
            except UnusableAnswer as error:
                raise unusable(self._session.link.remote, str(error)) from error
        return min(lengths, key=lambda length: surprises[length])

    def _ask_all(self, requests: Sequence[CanvasRequest]) -> list[CanvasAnswer]:
        """Return the answers in order: all at once, or the first one alone if it reads much."""
        num_missing = max((self._session.num_missing(one.prompt) for one in requests), default=0)
        num_first = 1 if num_missing > _MANY_TOKENS else 0
        answers = [self._ask(request) for request in requests[:num_first]]
        asks = [partial(self._session.ask, request) for request in requests[num_first:]]
        later = ask_at_once(asks, self._checkpoint)
        for request, answer in zip(requests[num_first:], later, strict=True):
            self._note(request, answer)
        return answers + later

    def _write(
        self, layouts: Sequence[HoleLayout], on_canvas: Callable[[WrittenHole], None]
    ) -> None:
        """Denoise canvas after canvas until the text has an end.

        A hole of one canvas may have several answers, the surest first.
        """
        task, written = self._task, self._written
        prompt, noise = list(task.context), _noise(task)
        num_samples = max(1, min(task.request.num_candidates, self._session.server.num_samples))
        for layout in layouts:
            request = CanvasRequest(
                prompt=prompt,
                ids=self._with_noise(layout, noise),
                pinned=_pinned(layout),
                max_steps=task.request.max_steps or MAX_STEPS,
                num_samples=num_samples if len(layouts) == 1 else 1,
            )
            asked = self._ask(request)
            samples = (asked, *asked.others)
            answer, *others = sorted(samples, key=lambda it: -it.log_p(layout))
            written.draft = written.draft.then(answer.hole(layout))
            written.others = [other.hole(layout) for other in others]
            on_canvas(written)
            if written.answer.has_end:
                return
            prompt = [*prompt, *answer.ids]

    def _scoring(self, layout: HoleLayout) -> CanvasRequest:
        return CanvasRequest(
            prompt=self._task.context,
            ids=self._with_noise(layout, _noise(self._task)),
            pinned=_pinned(layout),
            max_steps=1,
            scored=tuple(scored_ids(layout).values()),
        )

    def _with_noise(self, layout: HoleLayout, noise: Random) -> list[int]:
        num_tokens = self._session.text.num_tokens
        return [noise.randrange(num_tokens) if i is None else i for i in layout.ids]

    def _ask(self, request: CanvasRequest) -> CanvasAnswer:
        self._checkpoint()
        answer = self._session.ask(request, self._checkpoint)
        self._note(request, answer)
        return answer

    def _note(self, request: CanvasRequest, answer: CanvasAnswer) -> None:
        self._session.held.note(request.prompt)
        self._written.num_requests += 1
        self._written.first_at = self._written.first_at or time.monotonic()
        self._written.model = answer.model or self._written.model
        if answer.reading is not None:
            self._written.readings.append(answer.reading)


def _pinned(layout: HoleLayout) -> list[int]:
    return [i for i, token in enumerate(layout.ids) if token is not None]


def _noise(task: HoleTask) -> Random:
    """Return the noise of a request: another alternative is another seed."""
    return Random(task.request.seed + task.request.alternative)


class CanvasSession(ServerSession):
    """Fills holes on one server. The suffix is in the canvas, so no context becomes stale."""

    def __init__(
        self,
        link: ServerLink,
        server: Server,
        dialect: VllmCanvas,
        text: GemmaTokenizer,
        max_context_tokens: int,
    ) -> None:
        assert server.canvas_tokens is not None
        super().__init__(link, server, dialect)
        self.text = text
        self._bucket = CanvasSizes(canvas_length=server.canvas_tokens).bucket
        max_positions = server.context_tokens or 2 * (max_context_tokens + server.canvas_tokens)
        limits = ModelLimits(
            vocab_size=text.num_tokens,
            canvas_length=server.canvas_tokens,
            max_positions=max_positions,
            max_context_tokens=min(max_context_tokens, max_positions - server.canvas_tokens),
        )
        self.reader = RequestReader(text, limits)

    def ask(self, request: CanvasRequest, checkpoint: Callable[[], None]) -> CanvasAnswer:
        """Return the canvas. Raises RemoteError, and what ``checkpoint`` raises, which cancels."""
        samples: list[list[NewToken]] = [[] for _ in range(request.num_samples)]
        reading, model = None, None
        with closing(self.stream(request, checkpoint)) as chunks:
            for chunk in chunks:
                if not 0 <= chunk.sample < len(samples):
                    raise unusable(self.link.remote, f"it numbers an answer {chunk.sample}")
                samples[chunk.sample] += chunk.tokens
                reading, model = chunk.reading or reading, chunk.model or model
        first, *others = (self._as_pinned(request, tokens) for tokens in samples)
        return replace(first, reading=reading, model=model, others=tuple(others))

    def _as_pinned(self, request: CanvasRequest, tokens: Sequence[NewToken]) -> CanvasAnswer:
        """Return a canvas with its pins. Raises RemoteError for one of another length."""
        num_asked = len(request.ids)
        if len(tokens) != num_asked:
            raise unusable(self.link.remote, f"{len(tokens)} tokens for a canvas of {num_asked}")
        pinned = set(request.pinned)
        ids = tuple(request.ids[i] if i in pinned else it.id for i, it in enumerate(tokens))
        return CanvasAnswer(tokens=tuple(tokens), ids=ids)

    def _begin(self, request: Fill, control: FillControl) -> tuple[int, Run]:
        """Return the run. As its forwards count requests: the server tells no number of steps.

        Its sampler has a temperature and a seed of its own, those of the request are not used.
        """
        task = self._chosen(request)
        return task.num_project, CanvasRun(self, task, control).run

    def read_ahead(self, place: Prefetch, control: FillControl) -> None:
        """Ask the server to read a hole's context, its own window first unless the rest is read."""
        request = fill_at(place)
        task = self._chosen(request)
        self._read(task, control)
        if request.project is not None and not task.num_project:
            self._read(self.reader.read(request), control)

    def _chosen(self, request: Fill) -> HoleTask:
        return self.reader.choose_context(request, self.num_missing, self.speed)

    def _read(self, task: HoleTask, control: FillControl) -> None:
        """Ask the server to read a context: the shortest canvas and one step, for nothing."""
        num_missing, began = self.num_missing(task.context), time.monotonic()
        if num_missing == 0:
            return
        request = CanvasRequest(
            prompt=task.context,
            ids=[self.text.special.pad] * self._bucket,
            pinned=range(self._bucket),
            max_steps=1,
        )
        reading = self.ask(request, control.checkpoint).reading
        num_read = num_missing if reading is None else reading.num_read
        self.speed.add(num_read, time.monotonic() - began)
        self.held.note(task.context)
