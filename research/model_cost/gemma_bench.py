"""Measure one loaded DiffusionGemma: each method measures one case and returns its line."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from intarsia.engine.diffusion.canvas import random_canvas
from intarsia.engine.diffusion.denoise import denoise
from intarsia.engine.diffusion.policies import uniform_state_policy
from intarsia.engine.diffusion.stopping import StableAndConfident
from intarsia.engine.families.diffusion_gemma.backbone.model import CHUNK, DiffusionGemmaBackbone
from intarsia.engine.families.diffusion_gemma.backbone.passes import DirectPasses
from intarsia_research.model_cost.ceilings import Ceilings
from intarsia_research.model_cost.figure_lines import FirstPass, Pass, Prefill, Step, Times
from intarsia_research.model_cost.options import Way
from intarsia_research.model_cost.routing import count_touched
from intarsia_research.model_cost.stopwatch import Stopwatch, forget_peak, peak_bytes
from intarsia_research.model_cost.work import GemmaSizes, pass_work, prefill_work, read_sizes

_NUM_STEPS = 8
_NUM_TYPED = 16  # context tokens that are not in the cache: what a user typed since
_LONG = 32_768  # context tokens; longer contexts are read once only
_FIRST_ID = 3  # ids before it are special tokens


@dataclass(frozen=True, kw_only=True, eq=False)
class GemmaBench:
    """``weights`` is their format's name in the lines."""

    model: Any
    backbone: DiffusionGemmaBackbone
    weights: str
    ceilings: Ceilings
    repeats: int

    def prefill(self, context: int) -> Prefill:
        """Time reading a context with an empty cache; it is in the cache afterwards."""
        ids = self._ids(context)
        forget_peak(self._device)
        times = self._time(
            lambda: self.backbone.prefill(ids),
            before_each=self.backbone.forget,
            is_long=context >= _LONG,
        )
        return Prefill(
            weights=self.weights,
            context=context,
            times=times,
            floor=self.ceilings.floor(prefill_work(self._sizes, context=context, chunk=CHUNK)),
            peak_bytes=peak_bytes(self._device),
        )

    def first_pass(self, context: int, *, canvas: int, is_held: bool) -> FirstPass:
        """Time reading a context and one pass, with an empty cache or all but the newest tokens."""
        num_typed = min(_NUM_TYPED, context - 1)
        held = self._ids(context)
        ids = held[: context - num_typed] + self._ids(num_typed, seed=1)
        free = random_canvas(
            [None] * canvas, vocab_size=self.backbone.vocab_size, generator=self._generator()
        )

        def read_and_pass() -> None:
            self.backbone.prefill(ids)
            self.backbone.predict(free, None)

        times = self._time(
            read_and_pass,
            before_each=(lambda: self.backbone.prefill(held)) if is_held else self.backbone.forget,
            is_long=context >= _LONG and not is_held,
        )
        return FirstPass(
            weights=self.weights,
            context=context,
            num_held=context - num_typed if is_held else 0,
            canvas=canvas,
            times=times,
        )

    def one_pass(self, way: Way, *, canvas: int, batch: int) -> Pass:
        """Time a pass with self-conditioning after the context in the cache."""
        context = self.backbone.cached_tokens()
        touched = self._touched(canvas, batch)
        forget_peak(self._device)
        times = self._time(self._pass(canvas, batch))
        work = pass_work(self._sizes, canvas=canvas, batch=batch, context=context, touched=touched)
        return Pass(
            weights=self.weights,
            way=way,
            canvas=canvas,
            context=context,
            batch=batch,
            times=times,
            floor=self.ceilings.floor(work),
            experts_touched=sum(touched) / len(touched),
            peak_bytes=peak_bytes(self._device),
        )

    def step(self, way: Way, *, canvas: int) -> Step:
        """Time the engine's denoising loop, divided by its steps; it does not stop early."""
        policy = uniform_state_policy(
            vocab_size=self.backbone.vocab_size,
            max_steps=_NUM_STEPS,
            entropy_bound=0.1,
            t_min=0.4,
            t_max=0.8,
            stop=StableAndConfident(stability_threshold=_NUM_STEPS, confidence_threshold=1e-9),
        )

        def steps() -> None:
            generator = self._generator()
            free = random_canvas(
                [None] * canvas, vocab_size=self.backbone.vocab_size, generator=generator
            )
            denoise(self.backbone.predict, free, policy, generator=generator)

        whole = self._time(steps)
        return Step(
            weights=self.weights,
            way=way,
            canvas=canvas,
            context=self.backbone.cached_tokens(),
            times=Times(
                median=whole.median / _NUM_STEPS,
                lowest=whole.lowest / _NUM_STEPS,
                highest=whole.highest / _NUM_STEPS,
                repeats=whole.repeats,
            ),
        )

    def _touched(self, canvas: int, batch: int) -> tuple[int, ...]:
        """Return the active experts of each layer, by a direct pass: a graph runs no hooks."""
        key = (self.backbone.cached_tokens(), canvas, batch)
        if key not in self._known_touched:
            previous = self.backbone.use(DirectPasses(self.model))
            try:
                run = self._pass(canvas, batch)
                self._known_touched[key] = tuple(count_touched(self.model, run))
            finally:
                self.backbone.use(previous)
        return self._known_touched[key]

    def _pass(self, canvas: int, batch: int) -> Callable[[], Tensor]:
        vocab_size, random = self.backbone.vocab_size, self._generator()
        shape = (batch, canvas)
        ids = torch.randint(_FIRST_ID, vocab_size, shape, generator=random, device=self._device)
        logits = torch.empty(*shape, vocab_size, dtype=self.model.dtype, device=self._device)
        logits.normal_(generator=random)
        return lambda: self.backbone.predict_many(ids, logits)

    def _time(
        self,
        work: Callable[[], object],
        *,
        before_each: Callable[[], object] = lambda: None,
        is_long: bool = False,
    ) -> Times:
        return Stopwatch(self._device).time(
            work,
            repeats=1 if is_long else self.repeats,
            warm_ups=0 if is_long else min(2, self.repeats),
            before_each=before_each,
        )

    def _ids(self, length: int, seed: int = 0) -> list[int]:
        ids: list[int] = torch.randint(
            _FIRST_ID,
            self.backbone.vocab_size,
            (length,),
            generator=torch.Generator().manual_seed(seed),
        ).tolist()
        return ids

    def _generator(self) -> torch.Generator:
        return torch.Generator(self._device).manual_seed(0)

    @property
    def _device(self) -> torch.device:
        return self.backbone.device

    @cached_property
    def _known_touched(self) -> dict[tuple[int, int, int], tuple[int, ...]]:
        return {}

    @cached_property
    def _sizes(self) -> GemmaSizes:
        return read_sizes(self.model)
