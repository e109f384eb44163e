"""Both ways of decoding, and drafts, on toy backbones of random numbers."""

import math
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from cancel_when import cancel_when
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import DECODINGS, Kind, save_adapter, toy_context, toy_fill, toy_filler, toy_text
from toy_causal_fill import greedy, greedy_fill, run_fill

from intarsia.engine.config import EngineConfig
from intarsia.engine.decoding.entropy import EntropyPolicy, decode_by_entropy
from intarsia.engine.decoding.speculation_policy import DraftSources, SpeculationPolicy
from intarsia.engine.decoding.speculative import decode_speculatively
from intarsia.engine.decoding.tokens import HoleRequest, HoleTokens, score_tokens
from intarsia.engine.diffusion.denoise import DenoisingPolicy
from intarsia.engine.diffusion.hackable_diffusion import HackableSchedule
from intarsia.engine.diffusion.policies import masked_policy
from intarsia.engine.diffusion.renewal import Remask
from intarsia.engine.errors import Cancelled, ModelError
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.passes import (
    CanvasPasses,
    RewritePasses,
    SpeculativePasses,
)
from intarsia.engine.families.masked_causal.writer import HoleWriter
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Decoding, Fill, Step
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


DRAFT = "val return def"


def rewriting(**fields: Any) -> Fill:
    return toy_fill(**({"draft": DRAFT, "noise": 0.5, "max_tokens": 64} | fields))


def test_a_draft_is_rewritten(filler: MaskedCausalFiller, toy: Path) -> None:
    filled = run_fill(filler, rewriting())
    assert filled.finish_reason == "end_of_hole"
    assert len(filled.tokens) == len(toy_text(toy).encode(DRAFT))
    assert "".join(token.text for token in filled.tokens) == filled.text
    assert all(token.is_settled and 0 <= token.confidence <= 1 for token in filled.tokens)


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("fields", [{"noise": 0.2}, {"noise": 1.0}, {"draft": "x", "noise": 1.0}])
def test_without_a_draft_or_with_all_of_it_noise_a_hole_is_filled(
    filler: MaskedCausalFiller, decoding: Decoding, fields: dict[str, Any]
) -> None:
    plain, noised = (run_fill(filler, toy_fill(decoding=decoding, **it)) for it in ({}, fields))
    for name in ("text", "tokens", "num_forwards", "finish_reason", "mean_entropy"):
        assert getattr(noised, name) == getattr(plain, name), name


def test_another_seed_gives_another_text(filler: MaskedCausalFiller) -> None:
    def text(**fields: int) -> str:
        return run_fill(filler, rewriting(**fields)).text

    assert text(seed=3) == text(seed=3)
    assert len({text(seed=seed) for seed in range(5)}) > 1
    assert text(alternative=2) == text(seed=2), "an alternative is another seed"


def test_given_text_stands_before_the_draft(filler: MaskedCausalFiller, toy: Path) -> None:
    """Given or typed before: the same tokens, the same rewriting."""
    filled = run_fill(filler, rewriting(given="val"))
    text, start = toy_text(toy), toy_fill()
    context = text.context(text.encode(start.prefix), text.encode(start.suffix))
    held = filler._context.cache.ids
    assert held[len(context) :][:1] == text.encode("val")[:1]
    assert len(filled.tokens) == len(text.encode(DRAFT))


def test_a_stop_text_ends_a_rewriting_too(filler: MaskedCausalFiller) -> None:
    whole = run_fill(filler, rewriting()).text
    mark = whole[len(whole) // 2 :][:2]
    assert run_fill(filler, rewriting(stop=(mark,))).text == whole[: whole.index(mark)]


def test_steps_are_shown_until_the_answer_stands(filler: MaskedCausalFiller) -> None:
    steps: list[Step] = []
    filled = run_fill(filler, rewriting(), on_step=steps.append)
    assert "".join(token.text for token in steps[0].tokens) == DRAFT
    assert not any(token.is_settled for token in steps[0].tokens)
    assert steps[-1].tokens == filled.tokens
    assert [step.step for step in steps] == sorted(step.step for step in steps)


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"noise": 0.0}, "noise must be above 0 and at most 1"),
        ({"noise": 1.01}, "noise must be above 0 and at most 1"),
        ({"noise": math.nan}, "noise must be above 0 and at most 1"),
        ({"max_tokens": 3}, r"draft has \d+ tokens, above max_tokens 3: rewrite less"),
    ],
)
def test_what_cannot_be_rewritten_is_refused(
    filler: MaskedCausalFiller, fields: dict[str, Any], match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        run_fill(filler, rewriting(**fields))


@settings(max_examples=30)
@given(
    draft=st.text(max_size=30) | st.text(alphabet="def return val é😀\n", max_size=30),
    noise=st.floats(0.01, 0.99),
    seed=st.integers(0, 3),
)
def test_any_text_may_be_a_draft(filler: MaskedCausalFiller, draft: str, noise: float, seed: int):
    filled = run_fill(filler, rewriting(draft=draft, noise=noise, seed=seed, max_tokens=200))
    assert "".join(token.text for token in filled.tokens) == filled.text
    assert "<|" not in filled.text or "<|" in draft


def test_branches_see_what_is_held_and_themselves_alone(toy: Path) -> None:
    causal, text = toy_context(toy), toy_text(toy)
    context = text.context(text.encode("def f("), text.encode("):\n"))
    branches = [[5, 6, 7], [8], [5, 9]]
    with torch.inference_mode():
        causal.prefill(context)
        together = RewritePasses(causal).branch(branches)
        for branch, logits in zip(branches, together, strict=True):
            alone = toy_context(toy)
            alone.prefill([*context, *branch])
            torch.testing.assert_close(logits[-1], alone.next_logits(), atol=1e-4, rtol=1e-4)


_HOLES = (
    ("def f(", "):\n    return val\n"),
    ("", ""),
    ("x = [1, 2, 3]\nval = ", "\nreturn val\n"),
    ("def default(val):\n    ", "\n\n\ndefault(default(1))\n"),
)
_NUM_TOKENS = 40


def decode(causal: OpenContext, folder: Path, context: list[int]) -> HoleTokens:
    ends = toy_text(folder).end_ids
    causal.prefill(context)
    logits = causal.next_logits()[None]
    hole = HoleRequest(
        first=score_tokens(logits, [int(logits.argmax())]),
        num_until_end=lambda ids: next((i + 1 for i, t in enumerate(ids) if t in ends), None),
        max_tokens=_NUM_TOKENS,
    )
    return decode_speculatively(
        SpeculativePasses(causal),
        hole,
        SpeculationPolicy(),
        sources=DraftSources(context=context),
        control=NO_CONTROL,
        on_round=None,
    )


def contexts(folder: Path) -> list[list[int]]:
    text = toy_text(folder)
    return [text.context(text.encode(prefix), text.encode(suffix)) for prefix, suffix in _HOLES]


@pytest.mark.parametrize("kind", ["qwen2", "qwen3", "llama3"])
@pytest.mark.parametrize("seed", range(3))
def test_the_text_is_greedy_with_any_adapter(
    kind: Kind, seed: int, toys: dict[str, Path], tmp_path: Path
) -> None:
    folder = toys[kind]
    causal = toy_context(folder, save_adapter(tmp_path / "a.safetensors", folder, seed=seed))
    for context in contexts(folder):
        written = decode(causal, folder, context)
        assert written.ids == greedy(folder, tuple(context), _NUM_TOKENS)
        assert written.num_forwards <= len(written.ids) - 1
        assert written.num_committed == len(written.ids)


def test_the_filler_gives_the_greedy_text(filler: MaskedCausalFiller, toy: Path) -> None:
    for written, suffix in _HOLES:
        prefix = written.rstrip(" ")  # blanks would be open, as the beginning of a word
        expected, ids = greedy_fill(toy, prefix, suffix, _NUM_TOKENS)
        verified, slow = (
            run_fill(filler, toy_fill(prefix, suffix, max_tokens=_NUM_TOKENS, decoding=decoding))
            for decoding in ("speculative", "autoregressive")
        )
        assert verified.text == slow.text == expected
        assert slow.num_forwards == len(ids) - 1
        assert verified.num_forwards <= slow.num_forwards
        assert slow.finish_reason == verified.finish_reason


def test_no_adapter_writes_the_same_text_one_token_a_pass(filler: MaskedCausalFiller, toy: Path):
    without = toy_filler(toy)
    for prefix, suffix in _HOLES:
        for decoding in ("speculative", "entropy"):
            plain = run_fill(without, toy_fill(prefix, suffix, decoding=decoding))
            assert plain.text == run_fill(filler, toy_fill(prefix, suffix)).text
            assert plain.num_forwards == max(
                0, len(plain.tokens) - (plain.finish_reason != "end_of_hole")
            )
