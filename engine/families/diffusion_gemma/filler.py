"""The Filler of DiffusionGemma: one fill turns text into ids, denoises canvases, returns text.

Runs on the engine's worker thread. Knows neither sockets nor how a canvas is denoised. The authors
of this file ran small random checkpoints only, not the released 26B weights.
"""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
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
from intarsia.engine.families.diffusion_gemma.answer import (
    Answer,
    HoleDraft,
    answer_of,
    finish_reason_of,
)
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
        backbone = self._backbone
        task = self._reader.choose_context(request, backbone.num_missing, backbone.reading_speed)
        policy = self._settings.policy(request, vocab_size=backbone.vocab_size)
        prefilled = backbone.prefill(task.context, control)
        prefilled_at = time.monotonic()
        writer = _HoleWriter(backbone, self._text, self._reader, task, control)
        answer = writer.write(policy)
        return Filled(
            id=request.id,
            text=answer.text,
            tokens=answer.tokens,
            num_forwards=writer.num_forwards,
            ms=fill_timing(control.received_at, started_at, prefilled_at),
            mean_entropy=answer.mean_entropy,
            finish_reason=finish_reason_of(answer, writer.reason, request),
            model=self.info.name,
            num_prefilled=prefilled.num_computed,
            num_reused=prefilled.num_reused,
            num_project=task.num_project,
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


class _HoleWriter:
    """Writes one hole, canvas after canvas."""

    def __init__(
        self,
        backbone: DiffusionGemmaBackbone,
        text: GemmaTokenizer,
        reader: RequestReader,
        task: HoleTask,
        control: FillControl,
    ) -> None:
        self.num_forwards = 0
        self.reason: Literal["done", "max_steps", "deadline"] = "done"
        self._backbone = backbone
        self._text = text
        self._reader = reader
        self._task = task
        self._control = control
        self._draft = HoleDraft()  # the hole so far
        is_noised = any_of(len(task.draft), task.request.noise, self._generator())
        self._start = [None if i in is_noised else token for i, token in enumerate(task.draft)]

    def write(self, policy: DenoisingPolicy) -> Answer:
        """Denoise canvas after canvas until the text has an end or the deadline comes."""
        layouts = self._plan()
        generator, context = self._generator(), self._task.context
        for layout in layouts:
            self._backbone.prefill(context, self._control)
            rest_of_draft = self._start[len(self._draft.ids) :]
            denoised = denoise(
                self._backbone.predict,
                self._canvas(layout, generator, rest_of_draft),
                policy,
                generator=generator,
                control=self._control,
                on_step=self._report(layout),
            )
            is_accepted = torch.ones_like(denoised.ids, dtype=torch.bool)
            self._draft = self._draft.then(_hole_of(denoised, is_accepted, layout))
            self.num_forwards += denoised.num_forwards
            self.reason = denoised.finish_reason
            context = context + denoised.ids.tolist()
            if self.reason == "deadline" or self._answer(self._draft).has_end:
                break
        return self._answer(self._draft)

    def _plan(self) -> tuple[HoleLayout, ...]:
        """Choose the hole's length, unless it has a draft; return its canvases."""
        task = self._task
        if self._start:
            return self._reader.lay_out(task, len(self._start))
        max_tokens = task.request.max_tokens
        # without a suffix to meet, the model itself ends the text
        lengths = candidate_lengths(max_tokens) if task.suffix else (max_tokens,)
        length, self.num_forwards = choose_length(
            self._backbone.predict_each,
            lengths,
            lambda length: self._canvas(self._reader.lay_out(task, length)[0], self._generator()),
            control=self._control,
        )
        first, *rest = self._reader.lay_out(task, length)
        if task.request.alternative == 0:
            return (first, *rest)
        # the k-th next likely first token, found by one forward pass
        self._control.checkpoint()
        self.num_forwards += 1
        logits = self._backbone.predict(self._canvas(first, self._generator()), None)[first.start]
        token = int(logits.topk(task.request.alternative + 1).indices[-1])
        return (first.beginning_with(token), *rest)

    def _canvas(
        self, layout: HoleLayout, generator: torch.Generator, draft: Sequence[int | None] = ()
    ) -> TokenCanvas:
        return random_canvas(
            layout.ids,
            vocab_size=self._backbone.vocab_size,
            generator=generator,
            start=layout.starting_with(draft),
        )

    def _report(self, layout: HoleLayout) -> OnStep:
        """Return a function that sends each step of this canvas to the client, if it asked."""
        on_step, request = self._control.on_step, self._task.request
        if on_step is None:
            return ignore_step

        def report(step: int, canvas: TokenCanvas, draft: Draft) -> None:
            is_accepted = canvas.is_accepted | canvas.is_fixed
            answer = self._answer(self._draft.then(_hole_of(draft, is_accepted, layout)))
            on_step(Step(id=request.id, step=self.num_forwards + step, tokens=answer.tokens))

        return report

    def _answer(self, draft: HoleDraft) -> Answer:
        return answer_of(draft, self._task.request, self._task.given, self._text)

    def _generator(self) -> torch.Generator:
        request = self._task.request
        seed = request.seed + (request.alternative if request.draft else 0)
        return torch.Generator(self._backbone.device).manual_seed(seed)


def _hole_of(canvas: Draft | Denoised, is_accepted: Tensor, layout: HoleLayout) -> HoleDraft:
    """Return the hole's tokens of one canvas."""
    hole = slice(layout.start, layout.end)
    return HoleDraft(
        ids=canvas.ids[hole].tolist(),
        confidences=canvas.confidences[hole].tolist(),
        entropies=canvas.entropies[hole].tolist(),
        is_accepted=is_accepted[hole].tolist(),
    )
