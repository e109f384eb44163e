"""Speculative decoding writes what transformers' own greedy search writes, in no more passes."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import Kind, save_adapter, toy_context, toy_fill, toy_filler, toy_text
from toy_causal_fill import greedy, greedy_fill, run_fill

from intarsia.engine.decoding.hole_request import HoleRequest
from intarsia.engine.decoding.proposer import DraftSources
from intarsia.engine.decoding.speculation_policy import SpeculationPolicy
from intarsia.engine.decoding.speculative import decode_speculatively
from intarsia.engine.decoding.tokens import HoleTokens, score_tokens
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.passes import SpeculativePasses
from intarsia.engine.fill_control import NO_CONTROL

_HOLES = (
    ("def f(", "):\n    return val\n"),
    ("", ""),
    ("x = [1, 2, 3]\nval = ", "\nreturn val\n"),
    ("def default(val):\n    ", "\n\n\ndefault(default(1))\n"),
)
_NUM_TOKENS = 40


def decode(
    causal: OpenContext, folder: Path, context: list[int], policy: SpeculationPolicy
) -> HoleTokens:
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
        policy,
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
        written = decode(causal, folder, context, SpeculationPolicy())
        assert written.ids == greedy(folder, tuple(context), _NUM_TOKENS)
        assert written.num_forwards <= len(written.ids) - 1
        assert written.num_committed == len(written.ids)


@settings(max_examples=40)
@given(
    num_proposed=st.integers(0, 9),
    num_rows=st.integers(1, 24),
    min_chance=st.sampled_from([0.0, 0.1, 0.9]),
    hole=st.integers(0, len(_HOLES) - 1),
)
def test_the_text_is_greedy_with_any_policy(
    toy: Path,
    toy_with_adapter: OpenContext,
    num_proposed: int,
    num_rows: int,
    min_chance: float,
    hole: int,
) -> None:
    context = contexts(toy)[hole]
    policy = SpeculationPolicy(num_proposed=num_proposed, num_rows=num_rows, min_chance=min_chance)
    written = decode(toy_with_adapter, toy, context, policy)
    assert written.ids == greedy(toy, tuple(context), _NUM_TOKENS)
    assert written.num_forwards <= max(len(written.ids) - 1, 0)


@pytest.fixture(scope="module")
def toy_with_adapter(toy: Path, adapter: Path) -> OpenContext:
    return toy_context(toy, adapter)


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
