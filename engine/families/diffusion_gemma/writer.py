"""Denoises the canvases of one hole: at the length that its suffix fits best, or at another."""

from collections.abc import Iterator, Sequence
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
from intarsia.engine.diffusion.length import rank_lengths
from intarsia.engine.diffusion.prediction import Draft
from intarsia.engine.diffusion.renewal import any_of
from intarsia.engine.families.diffusion_gemma.answer import (
    Answer,
    HoleDraft,
    answer_of,
    finish_reason_of,
)
from intarsia.engine.families.diffusion_gemma.layout import HoleLayout
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.read_request import HoleTask, RequestReader
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.fill_control import FillControl
from intarsia.engine.ipc.messages import Candidate, FinishReason, Step

_NUM_LENGTHS = 3
"""Candidate lengths at which answers are written: the best ones."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class WrittenHole:
    """An answer, and all tokens of the hole: it may have ended before them."""

    answer: Answer
    draft: HoleDraft
    finish_reason: FinishReason

    @property
    def candidate(self) -> Candidate:
        """The answer for a client, with the probabilities of the last step."""
        return Candidate(
            text=self.answer.text,
            tokens=self.answer.tokens,
            mean_entropy=self.answer.mean_entropy,
            finish_reason=self.finish_reason,
        )


class HoleWriter:
    """Writes answers to one hole. ``num_forwards`` counts the passes of all of them."""

    def __init__(
        self,
        backbone: DiffusionGemmaBackbone,
        text: GemmaTokenizer,
        reader: RequestReader,
        task: HoleTask,
        policy: DenoisingPolicy,
    ) -> None:
        self.num_forwards = 0
        self._backbone = backbone
        self._text = text
        self._reader = reader
        self._task = task
        self._policy = policy
        self._lengths: Sequence[int] = (len(task.draft),)  # the best one first
        is_noised = any_of(len(task.draft), task.request.noise, self._generator())
        self._start = [None if i in is_noised else token for i, token in enumerate(task.draft)]

    def first(self, control: FillControl) -> WrittenHole:
        """Write the answer that the request asks for, and report its steps. Raises Cancelled."""
        return self._write(self._plan(control), self._generator(), control, reports=True)

    def others(self, control: FillControl) -> Iterator[WrittenHole]:
        """Write further answers: at the next best lengths, then from other noise."""
        request = self._task.request
        for length in self._lengths[1:_NUM_LENGTHS]:
            yield self._write(self._lay_out(length), self._generator(), control)
        for number in range(1, request.num_candidates):
            yield self._write(self._lay_out(self._lengths[0]), self._generator(number), control)

    def _write(
        self,
        layouts: Sequence[HoleLayout],
        generator: torch.Generator,
        control: FillControl,
        *,
        reports: bool = False,
    ) -> WrittenHole:
        """Denoise canvas after canvas until the text has an end or the deadline comes."""
        draft, context = HoleDraft(), self._task.context
        reason: Literal["done", "max_steps", "deadline"] = "done"
        for layout in layouts:
            self._backbone.prefill(context, control)
            rest_of_draft = self._start[len(draft.ids) :]
            denoised = denoise(
                self._backbone.predict,
                self._canvas(layout, generator, rest_of_draft),
                self._policy,
                generator=generator,
                control=control,
                on_step=self._report(layout, draft, control) if reports else ignore_step,
            )
            is_settled = torch.zeros_like(denoised.ids, dtype=torch.bool)  # that is to be judged
            draft = draft.then(_hole_of(denoised, is_settled, layout))
            self.num_forwards += denoised.num_forwards
            reason = denoised.finish_reason
            context = context + denoised.ids.tolist()
            if reason == "deadline" or self._answer(draft).has_end:
                break
        answer = self._answer(draft)
        return WrittenHole(
            answer=answer,
            draft=draft,
            finish_reason=finish_reason_of(answer, reason, self._task.request),
        )

    def _plan(self, control: FillControl) -> tuple[HoleLayout, ...]:
        """Choose the hole's length, unless it has a draft; return its canvases."""
        task = self._task
        if self._start:
            return self._lay_out(len(self._start))
        max_tokens = task.request.max_tokens
        # without a suffix to meet, the model itself ends the text
        lengths = candidate_lengths(max_tokens) if task.suffix else (max_tokens,)
        self._lengths, self.num_forwards = rank_lengths(
            self._backbone.predict_each,
            lengths,
            lambda length: self._canvas(self._lay_out(length)[0], self._generator()),
            control=control,
        )
        first, *rest = self._lay_out(self._lengths[0])
        if task.request.alternative == 0:
            return (first, *rest)
        # the k-th next likely first token, found by one forward pass
        control.checkpoint()
        self.num_forwards += 1
        logits = self._backbone.predict(self._canvas(first, self._generator()), None)[first.start]
        token = int(logits.topk(task.request.alternative + 1).indices[-1])
        return (first.beginning_with(token), *rest)

    def _lay_out(self, length: int) -> tuple[HoleLayout, ...]:
        return self._reader.lay_out(self._task, length)

    def _canvas(
        self, layout: HoleLayout, generator: torch.Generator, draft: Sequence[int | None] = ()
    ) -> TokenCanvas:
        return random_canvas(
            layout.ids,
            vocab_size=self._backbone.vocab_size,
            generator=generator,
            start=layout.starting_with(draft),
        )

    def _report(self, layout: HoleLayout, before: HoleDraft, control: FillControl) -> OnStep:
        """Return a function that sends each step of this canvas to the client, if it asked."""
        on_step, request, num_before = control.on_step, self._task.request, self.num_forwards
        if on_step is None:
            return ignore_step

        def report(step: int, canvas: TokenCanvas, draft: Draft) -> None:
            is_accepted = canvas.is_accepted | canvas.is_fixed
            answer = self._answer(before.then(_hole_of(draft, is_accepted, layout)))
            on_step(Step(id=request.id, step=num_before + step, tokens=answer.tokens))

        return report

    def _answer(self, draft: HoleDraft) -> Answer:
        return answer_of(draft, self._task.request, self._task.given, self._text)

    def _generator(self, number: int = 0) -> torch.Generator:
        """Return the noise of an answer."""
        request = self._task.request
        seed = request.seed + (request.alternative if request.draft else 0) + number
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
