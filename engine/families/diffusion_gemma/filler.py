"""The Filler of DiffusionGemma: one fill turns text into ids, denoises canvases, returns text.

Runs on the engine's worker thread. Knows neither sockets nor how a canvas is denoised. The authors
of this file ran small random checkpoints only, not the released 26B weights.
"""

import time
from contextlib import AbstractContextManager
from dataclasses import replace

from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.judge import Judge, ranked_answers
from intarsia.engine.families.diffusion_gemma.model import DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.read_request import ModelLimits, RequestReader
from intarsia.engine.families.diffusion_gemma.score_texts import TextScorer
from intarsia.engine.families.diffusion_gemma.settings import DenoisingSettings
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer
from intarsia.engine.families.diffusion_gemma.writer import HoleWriter
from intarsia.engine.families.protocol import fill_timing
from intarsia.engine.families.validate_request import require_range
from intarsia.engine.fill_control import FillControl
from intarsia.engine.filler import Filler, FillsOnly, ModelInfo, fill_at
from intarsia.engine.ipc.messages import Fill, Filled, Prefetch, ScoreTexts, TextScores


class DiffusionGemmaFiller(FillsOnly):
    """Answers fills with one loaded DiffusionGemma (the Filler protocol), and scores texts."""

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
        self._info = info
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
        self._scorer = TextScorer(backbone, text, max_tokens=max_context_tokens)

    @property
    def info(self) -> ModelInfo:
        return replace(self._info, notes=(*self._info.notes, *self._backbone.notes))

    def fill(self, request: Fill, control: FillControl) -> Filled:
        """Fill one hole. ``decoding`` is ignored: this family denoises in one way only."""
        started_at = time.monotonic()
        require_range("num_candidates", request.num_candidates, least=1, most=64)
        backbone = self._backbone
        task = self._reader.choose_context(request, backbone.num_missing, backbone.reading_speed)
        policy = self._settings.policy(request, vocab_size=backbone.vocab_size)
        prefilled = backbone.prefill(task.context, control)
        prefilled_at = time.monotonic()
        is_compared = request.num_candidates > 1
        context = self._reader.without_suffix(task) if is_compared else task.context
        writer = HoleWriter(backbone, self._text, self._reader, task, policy)
        judge = Judge(backbone, task, context)
        try:
            best, *others = ranked_answers(writer, judge, request, control)
        finally:
            backbone.forget_graph()
        return Filled(
            id=request.id,
            text=best.text,
            tokens=best.tokens,
            others=tuple(others),
            num_forwards=writer.num_forwards + judge.num_judged,
            ms=fill_timing(control.received_at, started_at, prefilled_at),
            mean_entropy=best.mean_entropy,
            finish_reason=best.finish_reason,
            model=self._info.name,
            num_prefilled=prefilled.num_computed,
            num_reused=prefilled.num_reused,
            num_project=task.num_project,
            end_confidence=best.end_confidence,
        )

    def score_texts(self, request: ScoreTexts, control: FillControl) -> TextScores:
        """Return how much likelier texts are than the present one. Raises Cancelled."""
        return self._scorer.score(request, control)

    def for_another_owner(self, *, cache_tokens: int) -> Filler:
        """Raise ModelError: the backbone holds the one context."""
        raise ModelError(
            f"{self._info.name} cannot keep several users apart here: serve it with vLLM"
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
