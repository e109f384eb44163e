"""Speculative decoding writes what transformers' own greedy search writes, in no more passes."""

from functools import cache
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_causal import Kind, save_adapter, toy_context, toy_fill, toy_filler, toy_text
from toy_causal_fill import run_fill
from transformers import AutoModelForCausalLM, PreTrainedModel

from intarsia.engine.decoding.hole_request import HoleRequest
from intarsia.engine.decoding.proposer import DraftSources
from intarsia.engine.decoding.speculation_policy import AUTOREGRESSIVE, SpeculationPolicy
from intarsia.engine.decoding.speculative import decode_speculatively
from intarsia.engine.decoding.tokens import HoleTokens, score_tokens
from intarsia.engine.families.masked_causal.context_boundary import boundary_offset
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


@cache
def reference(folder: Path) -> PreTrainedModel:
    model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    return model.eval()


def greedy(folder: Path, context: list[int]) -> list[int]:
    """Transformers' answer, the end token included."""
    return _greedy(folder, tuple(context))


@cache
def _greedy(folder: Path, context: tuple[int, ...]) -> list[int]:
    with torch.inference_mode():
        ids = reference(folder).generate(
            torch.tensor([list(context)]),
            attention_mask=torch.ones(1, len(context), dtype=torch.long),
            do_sample=False,
            max_new_tokens=_NUM_TOKENS,
            eos_token_id=sorted(toy_text(folder).end_ids),
            pad_token_id=0,
        )
    return [int(i) for i in ids[0, len(context) :]]


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
        assert written.ids == greedy(folder, context)
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
    assert written.ids == greedy(toy, context)
    assert written.num_forwards <= max(len(written.ids) - 1, 0)


@pytest.fixture(scope="module")
def toy_with_adapter(toy: Path, adapter: Path) -> OpenContext:
    return toy_context(toy, adapter)


def test_autoregressive_makes_one_pass_a_token(toy: Path, toy_with_adapter: OpenContext) -> None:
    for context in contexts(toy):
        written = decode(toy_with_adapter, toy, context, AUTOREGRESSIVE)
        assert written.ids == greedy(toy, context)
        assert written.num_forwards == len(written.ids) - 1


def test_proposals_do_save_passes(toy: Path, toy_with_adapter: OpenContext) -> None:
    """Else the tests above would compare nothing but left to right."""
    written = [
        decode(toy_with_adapter, toy, context, SpeculationPolicy(min_chance=0))
        for context in contexts(toy)
    ]
    assert sum(w.num_forwards for w in written) < sum(len(w.ids) - 1 for w in written)


def test_the_filler_gives_the_greedy_text(toy: Path, adapter: Path) -> None:
    filler, text = toy_filler(toy, adapter), toy_text(toy)
    for written, suffix in _HOLES:
        prefix = written.rstrip(" ")  # blanks would be open, as the beginning of a word
        offset = boundary_offset(prefix) or len(prefix)  # the rest follows the suffix
        context = text.context(text.encode(prefix[:offset]), text.encode(suffix))
        context += text.encode(prefix[offset:])
        expected = greedy(toy, context)
        ids = [i for i in expected if i not in text.end_ids]
        verified = run_fill(filler, toy_fill(prefix, suffix, max_tokens=_NUM_TOKENS))
        assert verified.text == "".join(text.pieces(ids, num_given=0))
        slow = run_fill(
            filler, toy_fill(prefix, suffix, max_tokens=_NUM_TOKENS, decoding="autoregressive")
        )
        assert slow.text == verified.text
        assert slow.num_forwards == len(expected) - 1
        assert verified.num_forwards <= slow.num_forwards
        assert slow.finish_reason == verified.finish_reason


def test_no_adapter_writes_the_same_text_one_token_a_pass(toy: Path, adapter: Path) -> None:
    with_adapter, without = toy_filler(toy, adapter), toy_filler(toy)
    for prefix, suffix in _HOLES:
        for decoding in ("speculative", "entropy"):
            plain = run_fill(without, toy_fill(prefix, suffix, decoding=decoding))
            assert plain.text == run_fill(with_adapter, toy_fill(prefix, suffix)).text
            assert plain.num_forwards == max(
                0, len(plain.tokens) - (plain.finish_reason != "end_of_hole")
            )
