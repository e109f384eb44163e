"""``entropy``: canvas after canvas through the denoising loop, on a toy backbone."""

import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from cancel_when import cancel_when
from toy_causal import toy_context, toy_fill, toy_filler
from toy_causal_fill import run_fill

from intarsia.engine.config import EngineConfig
from intarsia.engine.decoding.entropy import EntropyPolicy, decode_by_entropy
from intarsia.engine.decoding.hole_request import HoleRequest
from intarsia.engine.decoding.tokens import score_tokens
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.hackable_diffusion import HackableSchedule
from intarsia.engine.diffusion.policies import masked_policy
from intarsia.engine.diffusion.renewal import Remask
from intarsia.engine.errors import Cancelled, ModelError
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.passes import CanvasPasses
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.writer import HoleWriter
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Step
from intarsia.engine.service.load_filler import entropy_policy


def test_the_same_seed_gives_the_same_fill(filler: MaskedCausalFiller) -> None:
    def text(seed: int) -> str:
        request = toy_fill(decoding="entropy", temperature=1.5, seed=seed)
        return run_fill(filler, request).text

    assert text(7) == text(7)
    assert len({text(seed) for seed in range(6)}) > 1


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


def test_each_canvas_follows_the_tokens_before_it(
    text: FimTokenizer, toy: Path, adapter: Path
) -> None:
    """What is held at the end is the context and the hole, each token once."""
    context = text.context(text.encode("def f("), text.encode("):\n"))
    causal = toy_context(toy, adapter)
    causal.prefill(context)
    logits = causal.next_logits()[None]
    hole = decode_by_entropy(
        CanvasPasses(causal),
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
    assert len(hole.ids) == hole.num_committed == 40
    assert text.mask_id not in hole.ids
    held = causal.cache.ids[len(context) :]
    assert held == hole.ids[: len(held)]
    assert len(held) > 20


class OwnParts:
    """A schedule of other parts: here our own, with a bound that accepts one token a step."""

    num_asked = 0

    def policy(
        self, *, mask_id: int, generator: torch.Generator, **options: Any
    ) -> DenoisingPolicy:
        self.num_asked += 1
        return masked_policy(renew=Remask(mask_id=mask_id), entropy_bound=0.0, **options)


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
