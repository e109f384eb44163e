"""Drafts through the masked-causal filler, on a toy backbone of random numbers."""

import time
from pathlib import Path
from typing import Any

import pytest
import torch
from cancel_when import cancel_when
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import DECODINGS, toy_context, toy_fill, toy_filler, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.errors import Cancelled
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.passes import RewritePasses
from intarsia.engine.ipc.messages import Decoding, Fill, Filled, Step

DRAFT = "val return def"


@pytest.fixture(scope="module")
def filler(toy: Path, adapter: Path) -> MaskedCausalFiller:
    return toy_filler(toy, adapter)


def rewriting(**fields: Any) -> Fill:
    return toy_fill(**({"draft": DRAFT, "noise": 0.5, "max_tokens": 64} | fields))


def answer(filled: Filled) -> tuple[Any, ...]:
    return (
        filled.text,
        filled.tokens,
        filled.num_forwards,
        filled.finish_reason,
        filled.mean_entropy,
    )


def test_a_draft_is_rewritten(filler: MaskedCausalFiller, toy: Path) -> None:
    filled = run_fill(filler, rewriting())
    assert filled.finish_reason == "end_of_hole"
    assert len(filled.tokens) == len(toy_text(toy).encode(DRAFT))
    assert "".join(token.text for token in filled.tokens) == filled.text
    assert all(token.is_settled and 0 <= token.confidence <= 1 for token in filled.tokens)


def test_more_noise_changes_more(filler: MaskedCausalFiller, toy: Path) -> None:
    draft = "return val + 1\n    x = 2\n" * 3
    ids = toy_text(toy).encode(draft)

    def num_changed(noise: float) -> int:
        tokens = run_fill(filler, rewriting(draft=draft, noise=noise, max_tokens=200)).tokens
        pieces = toy_text(toy).pieces(ids, num_given=0)
        return sum(t.text != piece for t, piece in zip(tokens, pieces, strict=True))

    assert num_changed(0.1) < num_changed(0.9)


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("noise", [0.2, 1.0])
def test_without_a_draft_noise_says_nothing(
    filler: MaskedCausalFiller, decoding: Decoding, noise: float
) -> None:
    plain = run_fill(filler, toy_fill(decoding=decoding))
    assert answer(run_fill(filler, toy_fill(decoding=decoding, noise=noise))) == answer(plain)


@pytest.mark.parametrize("decoding", DECODINGS)
def test_all_noise_leaves_nothing_of_a_draft(filler: MaskedCausalFiller, decoding: Decoding):
    plain = run_fill(filler, toy_fill(decoding=decoding))
    assert answer(run_fill(filler, toy_fill(decoding=decoding, draft="x", noise=1.0))) == answer(
        plain
    )


def test_no_adapter_is_needed_and_none_takes_part(filler: MaskedCausalFiller, toy: Path) -> None:
    assert answer(run_fill(toy_filler(toy), rewriting())) == answer(run_fill(filler, rewriting()))


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


@pytest.mark.parametrize("max_steps", [1, 2, 4])
def test_no_more_steps_than_asked_for(filler: MaskedCausalFiller, max_steps: int) -> None:
    filled = run_fill(filler, rewriting(max_steps=max_steps, noise=0.9))
    assert (filled.num_forwards, filled.finish_reason) == (max_steps, "max_steps")
    assert filled.text, "the draft as far as it got"


def test_a_deadline_gives_the_draft_back(filler: MaskedCausalFiller) -> None:
    late = time.monotonic() - 1
    filled = run_fill(filler, rewriting(deadline_ms=1), received_at=late)
    assert (filled.finish_reason, filled.text) == ("deadline", DRAFT)


def test_a_cancel_ends_it_between_two_passes_and_harms_nothing(filler: MaskedCausalFiller):
    before = answer(run_fill(filler, rewriting()))
    steps: list[Step] = []
    with pytest.raises(Cancelled):
        run_fill(
            filler,
            rewriting(),
            checkpoint=cancel_when(lambda: len(steps) == 2),
            on_step=steps.append,
        )
    assert len(steps) == 2
    assert answer(run_fill(filler, rewriting())) == before


def test_steps_are_shown_until_the_answer_stands(filler: MaskedCausalFiller) -> None:
    steps: list[Step] = []
    filled = run_fill(filler, rewriting(), on_step=steps.append)
    assert "".join(token.text for token in steps[0].tokens) == DRAFT
    assert not any(token.is_settled for token in steps[0].tokens)
    assert steps[-1].tokens == filled.tokens
    assert [step.step for step in steps] == sorted(step.step for step in steps)


@pytest.mark.parametrize("noise", [0.0, -0.1, 1.01, float("nan")])
def test_a_noise_that_is_no_share_is_refused(filler: MaskedCausalFiller, noise: float) -> None:
    with pytest.raises(ValueError, match="noise must be above 0 and at most 1"):
        run_fill(filler, rewriting(noise=noise))


def test_a_draft_longer_than_its_answer_may_be_is_refused(filler: MaskedCausalFiller) -> None:
    with pytest.raises(ValueError, match=r"draft has \d+ tokens, above max_tokens 3: rewrite less"):
        run_fill(filler, rewriting(max_tokens=3))


@settings(max_examples=60)
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
