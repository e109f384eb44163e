"""One fill by DiffusionGemma: text → ids → canvases → denoise → text.

Used on the engine's worker thread. Knows neither sockets nor how a canvas is denoised. The released
26B weights were not run by the authors of this file, only small random checkpoints.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

import torch

from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.diffusion.denoise import (
    Denoised,
    DenoisingPolicy,
    OnStep,
    denoise,
    ignore_step,
)
from intarsia.engine.diffusion.draft import Draft
from intarsia.engine.diffusion.length import candidate_lengths, choose_length
from intarsia.engine.diffusion.noising import any_of
from intarsia.engine.errors import Cancelled
from intarsia.engine.families.diffusion_gemma.answer import HoleTokens, answer_of, finish_reason_of
from intarsia.engine.families.diffusion_gemma.layout import CanvasSizes, LaidOut, lay_out
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.settings import DenoisingSettings
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.families.protocol import Backbone
from intarsia.engine.families.validate_request import require, require_draft
from intarsia.engine.filler import ModelInfo
from intarsia.engine.ipc.messages import Fill, Filled, Prefetch, Step, Timing


def write_block(
    backbone: Backbone,
    context: Sequence[int],  # all that stands before, earlier canvases included
    ids: Sequence[int | None],  # None where the model is to write
    policy: DenoisingPolicy,
    *,
    generator: torch.Generator,
    is_cancelled: Callable[[], bool],
    deadline: float | None,
    on_step: OnStep,
    start: Sequence[int | None] | None = None,  # ids to begin with; elsewhere fresh noise
) -> Denoised:
    """Denoise one canvas. Raises Cancelled between two steps."""
    backbone.prefill(context, is_cancelled)
    return denoise(
        backbone.predict,
        random_canvas(ids, vocab_size=backbone.vocab_size, generator=generator, start=start),
        policy,
        generator=generator,
        is_cancelled=is_cancelled,
        deadline=deadline,
        on_step=on_step,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Hole:
    """A request as token ids, and what may end its work early."""

    request: Fill
    context: list[int]
    given: list[int]
    num_given_in_context: int
    start: list[int | None]  # of a draft: its ids, None where they are noised; else empty
    suffix: list[int]
    is_cancelled: Callable[[], bool]
    deadline: float | None  # time.monotonic()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Written:
    tokens: HoleTokens
    num_steps: int
    reason: Literal["settled", "max_steps", "deadline"]


class DiffusionGemmaFiller:
    """Answers fills with one loaded DiffusionGemma (the Filler protocol)."""

    def __init__(
        self,
        backbone: DiffusionGemmaBackbone,
        text: GemmaTokenizer,
        settings: DenoisingSettings,
        info: ModelInfo,
        *,
        max_context_tokens: int,
    ) -> None:
        self.info = info
        self._backbone = backbone
        self._text = text
        self._settings = settings
        self._sizes = CanvasSizes(canvas_length=backbone.canvas_length)
        self._max_context_tokens = max_context_tokens

    def fill(
        self,
        request: Fill,
        *,
        received_at: float,
        is_cancelled: Callable[[], bool],
        on_step: Callable[[Step], None] | None,
    ) -> Filled:
        """Fill one hole. ``settle`` is not asked: this family has one way to settle a canvas."""
        started_at = time.monotonic()
        hole = self._read(request, received_at, is_cancelled)
        policy = self._settings.policy(request, vocab_size=self._backbone.vocab_size)
        prefilled = self._backbone.prefill(hole.context, is_cancelled)
        prefilled_at = time.monotonic()
        canvases, num_forwards = self._plan(hole)
        written = self._write(hole, canvases, policy, num_forwards, on_step)
        answer = answer_of(written.tokens, request, hole.given, self._text)
        ended_at = time.monotonic()
        return Filled(
            id=request.id,
            text=answer.text,
            tokens=answer.tokens,
            num_forwards=num_forwards + written.num_steps,
            ms=Timing(
                queue=1000 * (started_at - received_at),
                prefill=1000 * (prefilled_at - started_at),
                denoise=1000 * (ended_at - prefilled_at),
                total=1000 * (ended_at - received_at),
            ),
            mean_entropy=answer.mean_entropy,
            finish_reason=finish_reason_of(answer, written.reason, request),
            model=self.info.name,
            num_prefilled=prefilled.num_computed,
            num_reused=prefilled.num_reused,
        )

    def suspended(self) -> AbstractContextManager[None]:
        """Let another fill be made between two passes of the one that runs."""
        return self._backbone.suspended()

    def cached_tokens(self) -> int:
        """Return how many context tokens are held now."""
        return self._backbone.cached_tokens()

    def prepare(self, is_cancelled: Callable[[], bool]) -> None:
        """Do nothing: in this family the suffix stands in the canvas, and is never read again."""

    def prefetch(self, place: Prefetch, is_cancelled: Callable[[], bool]) -> None:
        """Read the context of a hole that is not asked for yet. Raises Cancelled."""
        request = Fill(id=0, prefix=place.prefix, suffix=place.suffix, given=place.given)
        hole = self._read(request, time.monotonic(), is_cancelled)
        self._backbone.prefill(hole.context, is_cancelled)

    def _read(self, request: Fill, received_at: float, is_cancelled: Callable[[], bool]) -> _Hole:
        """Encode the request; what the canvas cannot show of suffix and given text is context."""
        require("max_steps", 1 if request.max_steps is None else request.max_steps, least=1)
        require("alternative", request.alternative, least=0, most=self._backbone.vocab_size - 1)
        require("min_indent", request.min_indent, least=0)
        require("max_open", request.max_open or 0, least=0)
        given, suffix = self._text.encode(request.given), self._text.encode(request.suffix)
        is_far = len(suffix) > self._sizes.max_suffix
        num_early = max(len(given) - self._sizes.max_given, 0)
        context = self._text.context(request.prefix, request.suffix if is_far else "")
        context += given[:num_early]
        if len(context) > self._max_context_tokens:
            raise ValueError(
                f"prefix and suffix have {len(context)} tokens, above the limit of "
                f"{self._max_context_tokens}: send less text"
            )
        room = self._backbone.max_positions - self._backbone.canvas_length - len(context)
        require("max_tokens", request.max_tokens, least=1, most=room)
        waiting = request.deadline_ms
        return _Hole(
            request=request,
            context=context,
            given=given,
            num_given_in_context=num_early,
            start=self._read_draft(request),
            suffix=suffix,
            is_cancelled=is_cancelled,
            deadline=None if waiting is None else received_at + waiting / 1000,
        )

    def _read_draft(self, request: Fill) -> list[int | None]:
        """Return the draft's ids, a share of them noised."""
        draft = self._text.encode(request.draft)
        require_draft(len(draft), request)
        is_noised = any_of(len(draft), request.noise, self._generator(request))
        return [None if i in is_noised else token for i, token in enumerate(draft)]

    def _plan(self, hole: _Hole) -> tuple[tuple[LaidOut, ...], int]:
        """Choose the hole's length and lay it out; return the canvases and the passes it took.

        A draft has its length already, and begins otherwise by another seed alone.
        """
        if hole.start:
            return self._lay_out(hole, len(hole.start)), 0
        choice = choose_length(
            self._backbone.predict,
            # without a suffix to meet, the model itself ends the text
            candidate_lengths(hole.request.max_tokens)
            if hole.suffix
            else (hole.request.max_tokens,),
            lambda length: self._noisy(hole, self._lay_out(hole, length)[0]),
            is_cancelled=hole.is_cancelled,
            deadline=hole.deadline,
        )
        first, *rest = self._lay_out(hole, choice.num_tokens)
        if hole.request.alternative == 0:
            return (first, *rest), choice.num_forwards
        return (self._with_alternative(hole, first), *rest), choice.num_forwards + 1

    def _lay_out(self, hole: _Hole, num_free: int) -> tuple[LaidOut, ...]:
        special = self._text.special
        return lay_out(
            hole.given[hole.num_given_in_context :],
            num_free,
            hole.suffix,
            sizes=self._sizes,
            end_id=special.first_end,
            pad_id=special.pad,
        )

    def _with_alternative(self, hole: _Hole, place: LaidOut) -> LaidOut:
        """Give the hole the k-th next likely first token, by a first pass."""
        if hole.is_cancelled():
            raise Cancelled
        logits = self._backbone.predict(self._noisy(hole, place), None)[place.start]
        return place.beginning_with(int(logits.topk(hole.request.alternative + 1).indices[-1]))

    def _write(
        self,
        hole: _Hole,
        canvases: tuple[LaidOut, ...],
        policy: DenoisingPolicy,
        num_forwards: int,
        on_step: Callable[[Step], None] | None,
    ) -> _Written:
        """Denoise canvas after canvas until the text has an end or the time is up."""
        written = _Written(tokens=HoleTokens(), num_steps=0, reason="settled")
        generator, context = self._generator(hole.request), hole.context
        for place in canvases:
            num_before = len(written.tokens.ids)
            block = write_block(
                self._backbone,
                context,
                place.ids,
                policy,
                generator=generator,
                is_cancelled=hole.is_cancelled,
                deadline=hole.deadline,
                on_step=self._show(hole, place, written, num_forwards, on_step),
                start=place.starting_with(hole.start[num_before:]) if hole.start else None,
            )
            is_settled = torch.ones_like(block.ids, dtype=torch.bool)
            written = _Written(
                tokens=written.tokens.then(block, is_settled, place),
                num_steps=written.num_steps + block.num_steps,
                reason=block.finish_reason,
            )
            context = context + block.ids.tolist()
            if written.reason == "deadline" or self._has_end(hole, written.tokens):
                break
        return written

    def _has_end(self, hole: _Hole, tokens: HoleTokens) -> bool:
        return answer_of(tokens, hole.request, hole.given, self._text).has_end

    def _show(
        self,
        hole: _Hole,
        place: LaidOut,
        earlier: _Written,
        num_forwards: int,
        on_step: Callable[[Step], None] | None,
    ) -> OnStep:
        """Return what turns a step of this canvas into a message."""
        if on_step is None:
            return ignore_step

        def show(step: int, canvas: TokenCanvas, draft: Draft) -> None:
            tokens = earlier.tokens.then(draft, canvas.is_settled | canvas.is_fixed, place)
            answer = answer_of(tokens, hole.request, hole.given, self._text)
            num_steps = num_forwards + earlier.num_steps + step
            on_step(Step(id=hole.request.id, step=num_steps, tokens=answer.tokens))

        return show

    def _noisy(self, hole: _Hole, place: LaidOut) -> TokenCanvas:
        return random_canvas(
            place.ids, vocab_size=self._backbone.vocab_size, generator=self._generator(hole.request)
        )

    def _generator(self, request: Fill) -> torch.Generator:
        seed = request.seed + (request.alternative if request.draft else 0)
        return torch.Generator(self._backbone.device).manual_seed(seed)
