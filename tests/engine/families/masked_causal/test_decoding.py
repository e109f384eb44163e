"""Both ways of decoding, and drafts, on toy backbones of random numbers."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import DECODINGS, save_drafter, toy_context, toy_fill, toy_filler, toy_text
from toy_causal_fill import greedy, greedy_fill, run_fill

from intarsia.engine.decoding.speculation_policy import DraftSources, SpeculationPolicy
from intarsia.engine.decoding.speculative import decode_speculatively
from intarsia.engine.decoding.tokens import HoleRequest, HoleTokens, score_tokens
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.passes import RewritePasses, SpeculativePasses
from intarsia.engine.fill_control import NO_CONTROL
from intarsia.engine.ipc.messages import Fill, Step

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
def test_without_a_draft_or_with_all_of_it_noise_a_hole_is_filled(filler, decoding, fields):
    plain, noised = (run_fill(filler, toy_fill(decoding=decoding, **it)) for it in ({}, fields))
    for name in ("text", "tokens", "num_forwards", "finish_reason", "mean_entropy"):
        assert getattr(noised, name) == getattr(plain, name), name


def test_another_seed_gives_another_text(filler: MaskedCausalFiller) -> None:
    def text(**fields: int) -> str:
        return run_fill(filler, rewriting(**fields)).text

    assert text(seed=3) == text(seed=3)
    assert len({text(seed=seed) for seed in range(20)}) > 1
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
def test_what_cannot_be_rewritten_is_refused(filler, fields, match):
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
def test_the_text_is_greedy_with_any_drafter(kind, seed, toys, tmp_path):
    folder = toys[kind]
    causal = toy_context(folder, save_drafter(tmp_path / "d.safetensors", folder, seed=seed))
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


def test_no_drafter_writes_the_same_text_one_token_a_pass(filler: MaskedCausalFiller, toy: Path):
    without = toy_filler(toy)
    for prefix, suffix in _HOLES:
        plain = run_fill(without, toy_fill(prefix, suffix))
        assert plain.text == run_fill(filler, toy_fill(prefix, suffix)).text
        assert plain.num_forwards == max(
            0, len(plain.tokens) - (plain.finish_reason != "end_of_hole")
        )
