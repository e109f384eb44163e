"""The Filler of the masked-causal family: one fill turns text into ids, decodes, returns text."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager

from msgspec.structs import replace

from intarsia.engine.decoding.tokens import EndReason, HoleTokens, OnRound
from intarsia.engine.errors import DeadlinePassed
from intarsia.engine.families.chat_form import NOT_TOLD, Following
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.interface import SHORT_CHUNK
from intarsia.engine.families.masked_causal.next_edit.find import NextEditFinder
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.read_request import (
    FillTask,
    ProjectChoice,
    RequestReader,
)
from intarsia.engine.families.masked_causal.rerank import Reranker
from intarsia.engine.families.masked_causal.score_texts import TextScorer
from intarsia.engine.families.masked_causal.warm_start import WarmStart
from intarsia.engine.families.masked_causal.writer import Answer, HoleWriter
from intarsia.engine.families.project_text import has_chunks
from intarsia.engine.families.protocol import Prefilled, fill_timing
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import ModelInfo, fill_at
from intarsia.engine.ipc.messages import (
    Candidate,
    Fill,
    Filled,
    FindNextEdits,
    FinishReason,
    NextEdits,
    Prefetch,
    ScoreTexts,
    Step,
    TextScores,
)

_FINISH_REASONS: dict[EndReason, FinishReason] = {
    "end": "end_of_hole",
    "max_tokens": "max_tokens",
    "max_steps": "max_steps",
    "deadline": "deadline",
}


class MaskedCausalFiller:
    """Answers fills with one loaded causal backbone (the Filler protocol)."""

    def __init__(
        self,
        context: OpenContext,
        text: FimTokenizer,
        info: ModelInfo,
        *,
        max_context_tokens: int,
        following: Following = NOT_TOLD,
    ) -> None:
        self.info = info
        self._following = following
        self._text = text
        self._max_context_tokens = max_context_tokens
        self._context = context
        self._reader = RequestReader(
            text,
            vocab_size=context.backbone.shape.vocab_size,
            max_context_tokens=max_context_tokens,
            following=following,
        )
        self._project = ProjectChoice(self._reader, context.num_missing, context.reading_speed)
        self._writer = HoleWriter(context, text)
        self._reranker = Reranker(context, text, self._writer)
        self._next_edits = NextEditFinder(
            context.backbone, text, context.find_held, max_tokens=max_context_tokens
        )
        self._scorer = TextScorer(text, self._next_edits.reader, max_tokens=max_context_tokens)

    def fill(self, request: Fill, control: FillControl) -> Filled:
        started_at = time.monotonic()
        task = self._project.read(request, control)
        start = self._writer.find_start(task) if task.may_be_warm else None
        try:
            prefilled = self._open(task, hole_ids=() if start is None else start.draft.ids)
        except DeadlinePassed:
            return self._late(task, started_at)
        prefilled_at = time.monotonic()
        hole = self._write(task, start, self._report(task))
        (best, *others), num_forwards = self._answers(task, hole)
        return Filled(
            id=request.id,
            text=best.text,
            tokens=best.tokens,
            others=tuple(_as_candidate(answer) for answer in others),
            num_forwards=num_forwards,
            ms=fill_timing(control.received_at, started_at, prefilled_at),
            mean_entropy=best.mean_entropy,
            finish_reason=_FINISH_REASONS[best.hole.finish_reason],
            model=self.info.name,
            num_prefilled=prefilled.num_computed,
            num_reused=prefilled.num_reused,
            num_project=task.num_project,
            was_asked=task.is_turn and request.chat is None,
            end_confidence=best.end_confidence,
            caution=self._following.caution if request.chat else "",
        )

    def _late(self, task: FillTask, started_at: float) -> Filled:
        """Return the answer of a fill that was late before its context was read."""
        return Filled(
            id=task.request.id,
            text="",
            tokens=(),
            num_forwards=0,
            ms=fill_timing(task.control.received_at, started_at, time.monotonic()),
            mean_entropy=None,
            finish_reason="deadline",
            model=self.info.name,
            num_prefilled=0,
            num_reused=0,
        )

    def for_another_owner(self, *, cache_tokens: int) -> "MaskedCausalFiller":
        """Return a filler with the same weights and contexts of its own."""
        return MaskedCausalFiller(
            OpenContext(self._context.backbone, cache_tokens=cache_tokens),
            self._text,
            self.info,
            max_context_tokens=self._max_context_tokens,
            following=self._following,
        )

    def suspended(self) -> AbstractContextManager[None]:
        return self._context.suspended()

    def cached_tokens(self) -> int:
        return self._context.cached_tokens()

    @property
    def is_behind(self) -> bool:
        """Whether the last fill could not wait for the code of other files."""
        return self._project.unread is not None

    def prepare(self, control: FillControl) -> None:
        """Read the code of other files that the last fill could not wait for; else up to a nearer
        boundary if its hole was far after its own. Raises Cancelled."""
        if (unread := self._project.unread) is not None:
            self._open(self._reader.read(replace(unread, is_background=True), control))
            self._project.unread = None
            return
        self._text.list_tokens()
        to_prepare = self._reader.boundary_to_prepare()
        if to_prepare is None:
            return
        self._context.prefill(to_prepare.context, control, chunk_tokens=SHORT_CHUNK)
        self._reader.remember(to_prepare)

    def prefetch(self, place: Prefetch, control: FillControl) -> None:
        """Read a hole's context, its own window first unless the rest is read. Raises Cancelled."""
        request = fill_at(place if has_chunks(place.project) else replace(place, project=None))
        task = self._project.read(request, control)
        self._open(task)
        if task.request.project != request.project:
            self._open(self._reader.read(request, control))

    def rest(self) -> None:
        """Do nothing: contexts stay in memory."""

    def find_next_edits(self, request: FindNextEdits, control: FillControl) -> NextEdits:
        """Return the lines that no longer fit, corrected. Raises Cancelled between short passes."""
        return self._next_edits.find(request, control)

    def score_texts(self, request: ScoreTexts, control: FillControl) -> TextScores:
        """Return how much likelier texts are than the present one. Raises Cancelled."""
        return self._scorer.score(request, control)

    def prefill_tokens_per_s(self) -> float | None:
        return self._context.reading_speed.tokens_per_s

    def _open(self, task: FillTask, *, hole_ids: Sequence[int] = ()) -> Prefilled:
        """Read the context of a task; a fill in the background lets others in between."""
        self._reader.use(task)
        prefilled = self._context.prefill(
            task.context,
            task.control.until_deadline(),
            chunk_tokens=SHORT_CHUNK if task.request.is_background else None,
            hole_ids=hole_ids,
        )
        self._project.note_read(task)
        return prefilled

    def _write(
        self, task: FillTask, start: WarmStart | None, on_round: OnRound | None
    ) -> HoleTokens:
        if task.draft:
            return self._writer.rewrite(task, on_round)
        if task.may_be_warm:
            return self._writer.write_warm(task, start, on_round)
        if task.request.anywhere and task.request.alternative:
            return self._writer.write_otherwise(task, task.request.alternative, on_round)
        return self._writer.write(task, on_round, rank=task.request.alternative)

    def _answers(self, task: FillTask, hole: HoleTokens) -> tuple[list[Answer], int]:
        """Return the answers, best first, and the forward passes that they took."""
        if task.draft or task.is_turn or task.request.num_candidates == 1:
            return [self._writer.answer(task, hole)], hole.num_forwards
        return self._reranker.rank(task, hole)

    def _report(self, task: FillTask) -> OnRound | None:
        """Return a function that sends each round to the client as a step, None if not asked."""
        on_step = task.control.on_step
        if on_step is None:
            return None

        def on_round(hole: HoleTokens) -> None:
            tokens = self._writer.tokens(task, hole)
            on_step(Step(id=task.request.id, step=hole.num_forwards, tokens=tokens))

        return on_round


def _as_candidate(answer: Answer) -> Candidate:
    return Candidate(
        text=answer.text,
        tokens=answer.tokens,
        mean_entropy=answer.mean_entropy,
        finish_reason=_FINISH_REASONS[answer.hole.finish_reason],
        end_confidence=answer.end_confidence,
    )
