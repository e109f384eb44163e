"""The Filler of DiffusionGemma: one fill turns text into ids, denoises canvases, returns text.

Runs on the engine's worker thread. Knows neither sockets nor how a canvas is denoised. The authors
of this file ran small random checkpoints only, not the released 26B weights.
"""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from intarsia.engine.diffusion.candidate_lengths import candidate_lengths
from intarsia.engine.diffusion.canvas import TokenCanvas, random_canvas
from intarsia.engine.diffusion.denoise import (
    Denoised,
    DenoisingPolicy,
    OnStep,
    denoise,
    ignore_step,
)
from intarsia.engine.diffusion.length import choose_length
from intarsia.engine.diffusion.prediction import Draft
from intarsia.engine.diffusion.renewal import any_of
from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.answer import HoleDraft, answer_of, finish_reason_of
from intarsia.engine.families.diffusion_gemma.layout import HoleLayout
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.read_request import (
    HoleTask,
    ModelLimits,
    RequestReader,
)
from intarsia.engine.families.diffusion_gemma.settings import DenoisingSettings
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.families.protocol import fill_timing
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import Filler, FillsOnly, ModelInfo, fill_at
from intarsia.engine.ipc.messages import Fill, Filled, Prefetch, Step


@dataclass(frozen=True, kw_only=True, slots=True)
class _FillTask:
    """A request as token ids, and the control of its fill."""

    hole: HoleTask
    start: list[int | None]  # the ids of a draft, None where these are noised; else empty
    control: FillControl


@dataclass(frozen=True, kw_only=True, slots=True)
class _Written:
    """The hole so far, over one or several canvases."""

    draft: HoleDraft
    num_forwards: int
    reason: Literal["done", "max_steps", "deadline"]


class DiffusionGemmaFiller(FillsOnly):
    """Answers fills with one loaded DiffusionGemma (the Filler protocol); it scores no texts."""

    who = "this model"
    advice = ": use one of the masked-causal family"

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
        limits = ModelLimits(
            vocab_size=backbone.vocab_size,
            canvas_length=backbone.canvas_length,
            max_positions=backbone.max_positions,
            max_context_tokens=max_context_tokens,
        )
        self._reader = RequestReader(text, limits)

    def fill(self, request: Fill, control: FillControl) -> Filled:
        """Fill one hole. ``decoding`` is ignored: this family denoises in one way only."""
        started_at = time.monotonic()
        task = self._choose_context(request, control)
        policy = self._settings.policy(request, vocab_size=self._backbone.vocab_size)
        prefilled = self._backbone.prefill(task.hole.context, control)
        prefilled_at = time.monotonic()
        layouts, num_forwards = self._plan(task)
        written = self._write(task, layouts, policy, num_forwards)
        answer = answer_of(written.draft, request, task.hole.given, self._text)
        return Filled(
            id=request.id,
            text=answer.text,
            tokens=answer.tokens,
            num_forwards=written.num_forwards,
            ms=fill_timing(control.received_at, started_at, prefilled_at),
            mean_entropy=answer.mean_entropy,
            finish_reason=finish_reason_of(answer, written.reason, request),
            model=self.info.name,
            num_prefilled=prefilled.num_computed,
            num_reused=prefilled.num_reused,
            num_project=task.hole.num_project,
        )

    def for_another_owner(self, *, cache_tokens: int) -> Filler:
        """Raise ModelError: the backbone holds the one context."""
        raise ModelError(
            f"{self.info.name} cannot keep several users apart here: serve it with vLLM"
        )

    def suspended(self) -> AbstractContextManager[None]:
        return self._backbone.suspended()

    def cached_tokens(self) -> int:
        return self._backbone.cached_tokens()

    def prepare(self, control: FillControl) -> None:
        """Do nothing: here the suffix is part of the canvas, so no context becomes stale."""

    def rest(self) -> None:
        """Do nothing: contexts stay in memory."""

    def prefetch(self, place: Prefetch, control: FillControl) -> None:
        """Read the one context that is held before it is requested. Raises Cancelled."""
        self._backbone.prefill(self._reader.read(fill_at(place)).context, control)

    def prefill_tokens_per_s(self) -> float | None:
        return self._backbone.reading_speed.tokens_per_s

    def _choose_context(self, request: Fill, control: FillControl) -> _FillTask:
        """Return the task with code of other files if it may wait for that, or need not wait."""
        hole = self._reader.choose_context(
            request,
            num_missing=self._backbone.num_missing,
            is_worth_reading=self._backbone.reading_speed.is_worth_reading,
        )
        return _FillTask(hole=hole, start=self._noised(hole), control=control)

    def _noised(self, hole: HoleTask) -> list[int | None]:
        """Return the draft's ids, a share of these noised."""
        is_noised = any_of(len(hole.draft), hole.request.noise, self._generator(hole.request))
        return [None if i in is_noised else token for i, token in enumerate(hole.draft)]

    def _plan(self, task: _FillTask) -> tuple[tuple[HoleLayout, ...], int]:
        """Choose the hole's length, unless it has a draft; return its canvases and the passes."""
        if task.start:
            return self._reader.lay_out(task.hole, len(task.start)), 0
        max_tokens = task.hole.request.max_tokens
        # without a suffix to meet, the model itself ends the text
        lengths = candidate_lengths(max_tokens) if task.hole.suffix else (max_tokens,)
        length, num_forwards = choose_length(
            self._backbone.predict,
            lengths,
            lambda length: self._noisy(task, self._reader.lay_out(task.hole, length)[0]),
            control=task.control,
        )
        first, *rest = self._reader.lay_out(task.hole, length)
        if task.hole.request.alternative == 0:
            return (first, *rest), num_forwards
        return (self._with_alternative(task, first), *rest), num_forwards + 1

    def _with_alternative(self, task: _FillTask, layout: HoleLayout) -> HoleLayout:
        """Give the hole the k-th next likely first token, found by one forward pass."""
        task.control.checkpoint()
        logits = self._backbone.predict(self._noisy(task, layout), None)[layout.start]
        return layout.beginning_with(
            int(logits.topk(task.hole.request.alternative + 1).indices[-1])
        )

    def _write(
        self,
        task: _FillTask,
        layouts: Sequence[HoleLayout],
        policy: DenoisingPolicy,
        num_forwards: int,
    ) -> _Written:
        """Denoise canvas after canvas until the text has an end or the deadline comes."""
        written = _Written(draft=HoleDraft(), num_forwards=num_forwards, reason="done")
        hole = task.hole
        generator, context = self._generator(hole.request), hole.context
        for layout in layouts:
            self._backbone.prefill(context, task.control)
            denoised = denoise(
                self._backbone.predict,
                self._first_canvas(task, layout, len(written.draft.ids), generator),
                policy,
                generator=generator,
                control=task.control,
                on_step=self._report(task, layout, written),
            )
            written = _then_canvas(written, denoised, layout)
            context = context + denoised.ids.tolist()
            has_end = answer_of(written.draft, hole.request, hole.given, self._text).has_end
            if written.reason == "deadline" or has_end:
                break
        return written

    def _first_canvas(
        self, task: _FillTask, layout: HoleLayout, num_written: int, generator: torch.Generator
    ) -> TokenCanvas:
        """Return a canvas to denoise, with the rest of the draft if there is one."""
        start = layout.starting_with(task.start[num_written:]) if task.start else None
        vocab_size = self._backbone.vocab_size
        return random_canvas(layout.ids, vocab_size=vocab_size, generator=generator, start=start)

    def _report(self, task: _FillTask, layout: HoleLayout, earlier: _Written) -> OnStep:
        """Return a function that sends each step of this canvas to the client, if it asked."""
        on_step = task.control.on_step
        if on_step is None:
            return ignore_step

        def report(step: int, canvas: TokenCanvas, draft: Draft) -> None:
            is_accepted = canvas.is_accepted | canvas.is_fixed
            whole = earlier.draft.then(_hole_of(draft, is_accepted, layout))
            answer = answer_of(whole, task.hole.request, task.hole.given, self._text)
            num_forwards = earlier.num_forwards + step
            on_step(Step(id=task.hole.request.id, step=num_forwards, tokens=answer.tokens))

        return report

    def _noisy(self, task: _FillTask, layout: HoleLayout) -> TokenCanvas:
        generator = self._generator(task.hole.request)
        vocab_size = self._backbone.vocab_size
        return random_canvas(layout.ids, vocab_size=vocab_size, generator=generator)

    def _generator(self, request: Fill) -> torch.Generator:
        seed = request.seed + (request.alternative if request.draft else 0)
        return torch.Generator(self._backbone.device).manual_seed(seed)


def _then_canvas(written: _Written, denoised: Denoised, layout: HoleLayout) -> _Written:
    is_accepted = torch.ones_like(denoised.ids, dtype=torch.bool)
    return _Written(
        draft=written.draft.then(_hole_of(denoised, is_accepted, layout)),
        num_forwards=written.num_forwards + denoised.num_forwards,
        reason=denoised.finish_reason,
    )


def _hole_of(canvas: Draft | Denoised, is_accepted: Tensor, layout: HoleLayout) -> HoleDraft:
    """Return the hole's tokens of one canvas."""
    hole = slice(layout.start, layout.end)
    return HoleDraft(
        ids=canvas.ids[hole].tolist(),
        confidences=canvas.confidences[hole].tolist(),
        entropies=canvas.entropies[hole].tolist(),
        is_accepted=is_accepted[hole].tolist(),
    )
