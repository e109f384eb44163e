"""``entropy``: canvas after canvas through the denoising loop, on a toy backbone."""

import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from cancel_when import cancel_when
from toy_causal import save_adapter, toy_context, toy_fill, toy_filler, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.config import EngineConfig
from intarsia.engine.decoding.entropy import EntropyPolicy, decode_by_entropy
from intarsia.engine.decoding.hole_request import HoleRequest
from intarsia.engine.decoding.tokens import HoleTokens, score_tokens
from intarsia.engine.diffusion.canvas import TokenCanvas
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.hackable_diffusion import HackableSchedule
from intarsia.engine.diffusion.policies import masked_policy
from intarsia.engine.diffusion.renewal import Remask
from intarsia.engine.diffusion.stopping import EndPosition
from intarsia.engine.errors import Cancelled, ModelError
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.passes import CanvasPasses
from intarsia.engine.families.masked_causal.writer import HoleWriter
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Step
from intarsia.engine.service.load_filler import entropy_policy


@pytest.fixture
def filler(toy: Path, adapter: Path) -> MaskedCausalFiller:
    return toy_filler(toy, adapter)


def test_the_same_seed_gives_the_same_fill(filler: MaskedCausalFiller) -> None:
    def text(seed: int) -> str:
        request = toy_fill(decoding="entropy", temperature=1.5, seed=seed)
        return run_fill(filler, request).text

    assert text(7) == text(7)
    assert len({text(seed) for seed in range(6)}) > 1


def test_without_temperature_the_seed_does_not_matter(filler: MaskedCausalFiller) -> None:
    texts = {run_fill(filler, toy_fill(decoding="entropy", seed=seed)).text for seed in range(4)}
    assert len(texts) == 1


@pytest.mark.parametrize("max_steps", [1, 2, 5])
def test_no_more_steps_than_asked_for(filler: MaskedCausalFiller, max_steps: int) -> None:
    filled = run_fill(filler, toy_fill(decoding="entropy", max_steps=max_steps, max_tokens=60))
    assert filled.num_forwards == max_steps
    assert filled.finish_reason == "max_steps"
    assert len(filled.tokens) > max_steps, "tokens that are not accepted are returned as drafted"


def test_a_cancel_counts_within_a_canvas(filler: MaskedCausalFiller) -> None:
    steps: list[Step] = []
    with pytest.raises(Cancelled):
        run_fill(
            filler,
            toy_fill(decoding="entropy", max_tokens=60),
            checkpoint=cancel_when(lambda: len(steps) == 2),
            on_step=steps.append,
        )
    assert len(steps) == 2
    assert run_fill(filler, toy_fill(decoding="entropy")).text, "the next fill is unharmed"


def test_a_deadline_gives_a_whole_canvas(filler: MaskedCausalFiller) -> None:
    filled = run_fill(
        filler,
        toy_fill(decoding="entropy", deadline_ms=1, max_tokens=60),
        received_at=time.monotonic() - 1,
    )
    assert (filled.finish_reason, filled.num_forwards) == ("deadline", 1)
    assert len(filled.tokens) == 1 + EntropyPolicy().num_free


class WatchedPasses:
    """Passes canvases on and keeps them."""

    def __init__(self, context: OpenContext) -> None:
        self.mask_id = context.backbone.mask_id
        self._passes = CanvasPasses(context)
        self.canvases: list[TokenCanvas] = []

    def open_canvas(self, written: Sequence[int]) -> None:
        self._passes.open_canvas(written)

    def predict(self, canvas: TokenCanvas, self_conditioning: torch.Tensor | None) -> torch.Tensor:
        self.canvases.append(canvas)
        return self._passes.predict(canvas, self_conditioning)


def decode(causal: OpenContext, context: list[int]) -> tuple[HoleTokens, WatchedPasses]:
    causal.prefill(context)
    logits = causal.next_logits()[None]
    passes = WatchedPasses(causal)
    hole = decode_by_entropy(
        passes,
        HoleRequest(
            first=score_tokens(logits, [int(logits.argmax())]),
            num_until_end=lambda ids: None,
            max_tokens=40,
        ),
        EntropyPolicy(entropy_bound=12.0, min_confidence=0.3),
        generator=torch.Generator().manual_seed(0),
        control=NO_CONTROL,
        on_round=None,
    )
    return hole, passes


def test_no_mask_is_left_and_every_step_accepts_one(toy: Path, tmp_path: Path) -> None:
    text = toy_text(toy)
    context = text.context(text.encode("def f("), text.encode("):\n"))
    is_out_of_order = has_remasked = False
    for seed in range(4):
        causal = toy_context(toy, save_adapter(tmp_path / f"{seed}", toy, seed=seed))
        hole, passes = decode(causal, context)
        assert len(hole.ids) == hole.num_committed == 40
        assert text.mask_id not in hole.ids
        assert hole.finish_reason == "max_tokens"
        for before, after in pairwise(passes.canvases):
            if len(before) == len(after) and after.is_accepted.any():  # of one canvas
                has_remasked |= bool((before.is_accepted & ~after.is_accepted).any())
                assert after.is_accepted.sum() > before.is_accepted.sum()
            known = (after.is_fixed | after.is_accepted).tolist()
            is_out_of_order |= any(known[known.index(False) :]) if False in known else False
    assert is_out_of_order, "tokens were accepted out of order"
    assert has_remasked, "tokens were remasked"


def test_each_canvas_follows_the_tokens_before_it(toy: Path, adapter: Path) -> None:
    """What is held at the end is the context and the hole, each token once."""
    text = toy_text(toy)
    context = text.context(text.encode("def f("), text.encode("):\n"))
    causal = toy_context(toy, adapter)
    hole, _ = decode(causal, context)
    held = causal.cache.ids[len(context) :]
    assert held == hole.ids[: len(held)]
    assert len(held) > 20


def test_a_canvas_needs_an_open_position() -> None:
    with pytest.raises(ValueError, match="open position"):
        EntropyPolicy(num_free=0)


class OwnParts:
    """A schedule of other parts: here our own, with a bound that accepts one token a step."""

    num_asked = 0

    def policy(
        self,
        *,
        mask_id: int,
        max_steps: int,
        temperature: float,
        end_position: EndPosition,
        generator: torch.Generator,
    ) -> DenoisingPolicy:
        self.num_asked += 1
        return masked_policy(
            renew=Remask(mask_id=mask_id),
            max_steps=max_steps,
            entropy_bound=0.0,
            temperature=temperature,
            end_position=end_position,
        )


def test_a_schedule_of_other_parts_unmasks_the_canvases(toy: Path, adapter: Path) -> None:
    schedule, filler = OwnParts(), toy_filler(toy, adapter)
    filler._writer = HoleWriter(filler._context, filler._text, EntropyPolicy(schedule=schedule))
    filled = run_fill(filler, toy_fill(decoding="entropy", max_tokens=30))
    again = run_fill(filler, toy_fill(decoding="entropy", max_tokens=30, max_steps=4))
    own = EntropyPolicy(entropy_bound=0.0, min_confidence=0.0)
    filler._writer = HoleWriter(filler._context, filler._text, own)
    expected = run_fill(filler, toy_fill(decoding="entropy", max_tokens=30))
    assert (filled.text, filled.num_forwards) == (expected.text, expected.num_forwards)
    assert schedule.num_asked > 1 and again.num_forwards == 4


def test_another_librarys_schedule_needs_that_library() -> None:
    """It is in no list of ours: JAX would come with it."""
    with pytest.raises(ModelError, match="needs that library and JAX"):
        entropy_policy(EngineConfig(unmasking="hackable-diffusion"))
    assert entropy_policy(EngineConfig()) == EntropyPolicy()
    assert "jax" not in sys.modules
    with pytest.raises(ValueError, match="num_steps"):
        HackableSchedule(num_steps=0)
