"""Fills the holes that clients ask for: plans them, asks the engine, and cleans its answers."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, TypeAlias

import msgspec

from intarsia.cli.api.holes.request import (
    MAX_TOKENS,
    Context,
    HoleRequest,
    is_secret,
    near_hole,
    to_project,
)
from intarsia.engine.config import EngineConfig
from intarsia.engine.ipc.client import EngineClient, EngineError
from intarsia.engine.ipc.messages import (
    CanvasToken,
    Fill,
    Filled,
    Prefetch,
    ProjectContext,
    Status,
    Step,
    Timing,
)
from intarsia.infill.filling.described_body import asking_for_body
from intarsia.infill.filling.judged import align
from intarsia.infill.filling.plan import Attempts, FillOptions, FillPlan, OnStep, plan_at_cursor
from intarsia.infill.languages import Language
from intarsia.infill.suggestion import ConfidentToken, NoSuggestion
from intarsia.workspace.context.chunk import context_budget

Ask: TypeAlias = Callable[[Fill, OnStep | None], Awaitable[Filled]]
"""Sends a fill to the engine; cancelling the await cancels the fill."""


async def fill_within(ask: Ask, request: Fill, writing_ms: int) -> Filled:
    """Return the engine's answer, or its whole lines so far once the time is over."""
    loop = asyncio.get_running_loop()
    enough: asyncio.Future[Filled] = loop.create_future()
    first_step_at: float | None = None

    def see(step: Step) -> None:
        nonlocal first_step_at
        first_step_at = loop.time() if first_step_at is None else first_step_at
        spent_ms = (loop.time() - first_step_at) * 1000
        lines = _whole_lines(step)
        if lines and spent_ms >= writing_ms and not enough.done():
            enough.set_result(_ended(step, lines, spent_ms))

    filling = asyncio.ensure_future(ask(msgspec.structs.replace(request, watch=True), see))
    try:
        await asyncio.wait({filling, enough}, return_when=asyncio.FIRST_COMPLETED)
        return await filling if filling.done() else enough.result()
    finally:
        filling.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await filling


def _whole_lines(step: Step) -> tuple[CanvasToken, ...]:
    """Return the settled tokens before the last line end among them, without that line end."""
    settled = tuple(takewhile(lambda token: token.is_settled, step.tokens))
    for index in range(len(settled) - 1, -1, -1):
        line, line_end, _ = settled[index].text.rpartition("\n")
        if line_end:
            cut = msgspec.structs.replace(settled[index], text=line)
            lines = (*settled[:index], cut)
            return lines if any(token.text.strip() for token in lines) else ()
    return ()


def _ended(step: Step, tokens: tuple[CanvasToken, ...], spent_ms: float) -> Filled:
    """Return these tokens as the engine's answer. What was read of the context is not known."""
    return Filled(
        id=step.id,
        text="".join(token.text for token in tokens),
        tokens=tokens,
        num_forwards=step.step,
        ms=Timing(queue=0.0, prefill=0.0, denoise=spent_ms, total=spent_ms),
        mean_entropy=0.0,
        finish_reason="deadline",
        model="",
        num_prefilled=0,
        num_reused=0,
    )


SPEED_KEPT_S = 60.0
"""How long a measured reading speed of the engine counts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """One text for the hole; its tokens joined are the text.

    ``ended``: by itself, at a stop text of the request, or at a limit.
    """

    text: str = ""
    tokens: tuple[ConfidentToken, ...] = ()
    ended: Literal["itself", "stop", "limit"] = "itself"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """Different texts for a hole, best first; a single empty one where nothing fits."""

    texts: tuple[Text, ...] = (Text(),)
    model: str
    num_read: int = 0  # context tokens that were computed
    num_reused: int = 0  # context tokens that were in the KV cache
    num_written: int = 0  # tokens of all texts
    read_ms: float = 0.0
    write_ms: float = 0.0
    total_ms: float = 0.0

    @property
    def num_prompt(self) -> int:
        return self.num_read + self.num_reused


class HoleFiller:
    """Asks the engine. Cancelling ``fill`` cancels the fill there, between two forward passes.

    ``observer`` only looks at an engine that runs already.
    """

    def __init__(self, client: EngineClient, observer: EngineClient) -> None:
        self._client = client
        self._observer = observer
        self._model = EngineConfig().model
        self._speed: float | None = None
        self._speed_known_until = 0.0

    async def fill(self, request: HoleRequest) -> Answer:
        """Return texts for the hole. Raise EngineError where the engine gives no answer."""
        if is_secret(request.context.path):
            return Answer(model=self._model)
        started_at = time.perf_counter()
        context = near_hole(request.context)
        project = await self._project(context, request.language)
        options = FillOptions(seed=request.seed, project=project)
        text, cursor = context.prefix + context.suffix, len(context.prefix)
        plan = plan_at_cursor(text, cursor, request.language, options)
        if isinstance(plan, NoSuggestion):
            return Answer(model=self._model)
        plan = asking_for_body(plan, at_cursor=True)
        fill = plan.request(options)
        fill = msgspec.structs.replace(
            fill,
            stop=(*fill.stop, *request.stop),
            max_tokens=min(request.max_tokens or fill.max_tokens, MAX_TOKENS),
        )
        attempts = await self._ask(fill, plan, request)
        if project is not None:  # read in idle time, for the next request
            self._client.prefetch(_place(fill, project))
        return self._answer(attempts, (time.perf_counter() - started_at) * 1000)

    async def read_ahead(self, request: HoleRequest) -> None:
        """Ask for the other files to be read in idle time. Starts no engine, and never fails."""
        if is_secret(request.context.path):
            return
        context = near_hole(request.context)
        project = await self._project(context, request.language)
        if project is not None:
            fill = Fill(id=0, prefix=context.prefix, suffix=context.suffix)
            self._client.prefetch(_place(fill, project))

    async def preload(self) -> None:
        """Load the model. Raise EngineError where that fails."""
        await self._client.preload()

    async def status(self) -> Status | None:
        """Return the running engine's status; None if there is none. Starts no engine."""
        try:
            return await self._observer.status()
        except EngineError:
            return None

    async def model(self) -> str:
        """Return the loaded model's name, else that of the model that would be loaded."""
        status = await self.status()
        return (status and status.model) or EngineConfig().model

    async def _ask(self, fill: Fill, plan: FillPlan, request: HoleRequest) -> Attempts[Text]:
        def read(filled: Filled) -> Text | NoSuggestion:
            return _read(filled, plan, request.stop)

        attempts = Attempts(read, num_needed=request.num_texts)
        for alternative in attempts:
            wanted = msgspec.structs.replace(fill, alternative=alternative)
            if request.writing_ms is None:
                filled = await self._client.fill(wanted)
            else:
                filled = await fill_within(self._client.fill, wanted, request.writing_ms)
            attempts.take(filled, is_final=filled.finish_reason == "deadline")
        return attempts

    def _answer(self, attempts: Attempts[Text], total_ms: float) -> Answer:
        filled, cost = attempts.filled, attempts.cost
        assert filled is not None and cost is not None, "the engine answers or raises"
        self._model = filled.model or self._model
        return Answer(
            texts=attempts.passed or (Text(),),
            model=self._model,
            num_read=filled.num_prefilled,
            num_reused=filled.num_reused,
            num_written=cost.num_written,
            read_ms=cost.read_ms,
            write_ms=max(0.0, cost.ms - cost.read_ms),
            total_ms=total_ms,
        )

    async def _project(self, context: Context, language: Language) -> ProjectContext | None:
        if not context.files:
            return None
        if time.monotonic() >= self._speed_known_until:
            status = await self.status()
            self._speed = status.prefill_tokens_per_s if status else None
            self._speed_known_until = time.monotonic() + (SPEED_KEPT_S if self._speed else 1.0)
        return to_project(context, language, context_budget(self._speed))


def _read(filled: Filled, plan: FillPlan, stops: tuple[str, ...]) -> Text | NoSuggestion:
    """Return the text that is inserted at the cursor. A client's stop text ends it in any case."""
    suggestion = plan.read_at_cursor(filled)
    if isinstance(suggestion, NoSuggestion):
        return suggestion
    ends = [at for stop in stops if (at := suggestion.text.find(stop)) >= 0]
    text = suggestion.text[: min(ends)] if ends else suggestion.text
    if not text.strip():
        return NoSuggestion(reason="a stop text of the request comes first")
    is_limited = filled.finish_reason != "end_of_hole"
    tokens = tuple(ConfidentToken(token.text, token.confidence) for token in filled.tokens)
    return Text(
        text=text,
        tokens=align(tokens, text),
        ended="stop" if ends else "limit" if is_limited else "itself",
    )


def _place(fill: Fill, project: ProjectContext) -> Prefetch:
    return Prefetch(
        prefix=fill.prefix, suffix=fill.suffix, given=fill.given, project=project, model=fill.model
    )
