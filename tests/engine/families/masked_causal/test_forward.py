"""Our forward passes against transformers' own, and what a drafter makes of them.

Compiled ones agree with torch's; no result of a frozen row depends on other rows.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from one_thread import DEVICES
from toy_causal import KINDS, Kind, save_toy, toy_backbone, toy_causal_model, toy_context, toy_fill
from toy_causal_fill import run_fill
from transformers import AutoModelForCausalLM

from intarsia.engine.decoding.speculation_policy import Proposal
from intarsia.engine.families.masked_causal.backbone.int8_backbone import is_int8_supported
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.passes import SpeculativePasses
from intarsia.engine.filler import ModelInfo
from intarsia.engine.ipc.messages import Decoding

in_int8 = pytest.mark.skipif(
    not is_int8_supported(), reason="this processor has no int8 dot product"
)
_IDS = torch.randint(0, 256, (90,), generator=torch.Generator().manual_seed(5)).tolist()


@pytest.fixture(autouse=True)
def inference() -> Iterator[None]:
    with torch.inference_mode():
        yield


def run_causally(backbone: CausalBackbone, cache: KvCache, ids: list[int]) -> torch.Tensor:
    hidden = backbone.forward(frozen_rows(ids, start=len(cache)), cache)
    cache.commit(ids)
    return torch.as_tensor(backbone.logits(hidden)).cpu()


def held(cache: KvCache, length: int) -> torch.Tensor:
    """Keys and values of the first tokens."""
    return torch.cat([cache.keys[:, :, :length, :, 0], cache.values[:, :, :length]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_tied", [True, False])
@pytest.mark.parametrize("device", DEVICES)
def test_logits_are_those_of_transformers(kind: Kind, is_tied: bool, device, tmp_path) -> None:
    model = toy_causal_model(kind, seed=3, is_tied=is_tied)
    backbone = toy_backbone(save_toy(tmp_path / kind, model), device=device)
    ours = run_causally(backbone, backbone.new_cache(), _IDS)
    theirs = model(torch.tensor([_IDS])).logits[0]
    assert theirs.std() > 0.5, "the toy must say something"
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_give_what_one_pass_gives(kind: Kind, toys: dict[str, Path]) -> None:
    backbone = toy_backbone(toys[kind])
    whole = run_causally(backbone, backbone.new_cache(), _IDS)
    cache = backbone.new_cache()
    parts = [run_causally(backbone, cache, _IDS[i : i + 7]) for i in range(0, len(_IDS), 7)]
    torch.testing.assert_close(torch.cat(parts), whole, atol=1e-4, rtol=1e-4)


def test_the_layout_that_attention_returns_does_not_matter(monkeypatch, toy, drafter) -> None:
    """torch's kernels for cards write (1, rows, heads, head_dim), those for CPUs heads first."""
    expected = drafts_after(toy_backbone(toy, drafter), [60])
    attention = F.scaled_dot_product_attention

    def rows_first(*args: Any, **options: Any) -> torch.Tensor:
        mixed: torch.Tensor = attention(*args, **options).transpose(1, 2).contiguous()
        return mixed.transpose(1, 2)

    monkeypatch.setattr(F, "scaled_dot_product_attention", rows_first)
    assert drafts_after(toy_backbone(toy, drafter), [60]) == expected


def test_a_long_context_is_read_in_chunks(toy: Path) -> None:
    ids = (_IDS * 13)[:1100]  # more than two chunks, and past the toy's trained length
    model = AutoModelForCausalLM.from_pretrained(toy, dtype=torch.float32)
    causal = toy_context(toy)
    assert causal.prefill(ids).num_computed == 1100
    theirs = model(torch.tensor([ids])).logits[0, -1]
    torch.testing.assert_close(causal.next_logits(), theirs, atol=1e-3, rtol=1e-3)


def drafts_after(backbone: CausalBackbone, sizes: list[int]) -> list[Proposal]:
    """Return what is drafted after each of the last tokens of a context read in such parts."""
    context = OpenContext(backbone, cache_tokens=4096)
    read = 0
    for size in sizes:
        read += size
        context.prefill(_IDS[:read])
    passes, drafted = SpeculativePasses(context), []
    for newest in _IDS[read : read + 4]:
        drafted.append(passes.draft(newest, 9, 0.0))
        passes.verify([newest, 7, 7])
        passes.keep(1)
    return drafted


@pytest.mark.parametrize("matrices", ["plain", pytest.param("int8", marks=in_int8)])
def test_a_draft_is_the_same_however_its_context_was_read(matrices, toy, drafter):
    backbone = toy_backbone(toy, drafter, matrices=matrices)
    whole = drafts_after(backbone, [60])
    assert [len(proposal.ids) for proposal in whole] == [5] * 4, "one token a row of its block"
    assert len({tuple(proposal.ids) for proposal in whole}) > 1
    for sizes in ([1, 59], [30, 1, 29], [59, 1]):
        for found, expected in zip(drafts_after(backbone, sizes), whole, strict=True):
            assert found.ids == expected.ids
            assert found.confidences == pytest.approx(expected.confidences, abs=1e-3)


def test_a_draft_reads_its_whole_context(toy: Path, drafter: Path) -> None:
    """Its last hidden state and newest token stay, its other rows are another text's."""
    backbone = toy_backbone(toy, drafter)
    context, other = (OpenContext(backbone, cache_tokens=4096) for _ in range(2))
    context.prefill(_IDS[:60])
    other.prefill([*_IDS[30:60], *_IDS[:30]])
    hidden = context.end_of_context()
    other.cache.keep_last_hidden(hidden)
    both = [SpeculativePasses(each).draft(_IDS[60], 5, 0.0) for each in (context, other)]
    assert both[0].confidences != pytest.approx(both[1].confidences, abs=1e-4)


@pytest.mark.parametrize("num_tokens", [1, 3])
def test_a_shorter_draft_is_the_beginning_of_a_longer_one(num_tokens, toy, drafter):
    context = toy_context(toy, drafter)
    context.prefill(_IDS[:60])
    passes = SpeculativePasses(context)
    long, short = (passes.draft(_IDS[60], num, 0.0) for num in (5, num_tokens))
    assert short.ids == long.ids[:num_tokens]
    assert short.confidences == pytest.approx(long.confidences[:num_tokens], abs=1e-5)


def test_a_draft_ends_where_it_becomes_too_unlikely(toy: Path, drafter: Path) -> None:
    context = toy_context(toy, drafter)
    context.prefill(_IDS[:60])
    passes = SpeculativePasses(context)
    whole = passes.draft(_IDS[60], 5, 0.0)
    first_two = math.prod(whole.confidences[:2])
    assert passes.draft(_IDS[60], 5, first_two * 0.999).ids == whole.ids[:2]
    assert not passes.draft(_IDS[60], 5, 1.0).ids


def test_nothing_is_drafted_where_no_hidden_state_was_kept(toy: Path, drafter: Path) -> None:
    context = toy_context(toy, drafter)
    context.prefill(_IDS[:60])
    context.cache.crop(50)
    assert not SpeculativePasses(context).draft(_IDS[50], 5, 0.0).ids


@pytest.mark.parametrize("matrices", ["plain", pytest.param("int8", marks=in_int8)])
def test_a_drafter_changes_nothing_of_the_backbone(matrices, toy, drafter):
    bare, drafting = (toy_backbone(toy, it, matrices=matrices) for it in (None, drafter))
    expected = run_causally(bare, bare.new_cache(), _IDS)
    assert torch.equal(run_causally(drafting, drafting.new_cache(), _IDS), expected)


@in_int8
def test_a_draft_in_int8_is_near_that_of_torch(toy: Path, drafter: Path) -> None:
    plain, int8 = (
        drafts_after(toy_backbone(toy, drafter, matrices=it), [60]) for it in ("plain", "int8")
    )
    firsts = [(one.ids[0], other.ids[0]) for one, other in zip(plain, int8, strict=True)]
    assert sum(one == other for one, other in firsts) >= 3


def error(result: torch.Tensor, exact: torch.Tensor) -> float:
    return float((result - exact).norm() / exact.norm())


@in_int8
@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_near_those_of_torch(kind: Kind, toys: dict[str, Path]) -> None:
    plain, int8 = toy_backbone(toys[kind]), toy_backbone(toys[kind], matrices="int8")
    exact = run_causally(plain, plain.new_cache(), _IDS)
    assert 0 < error(run_causally(int8, int8.new_cache(), _IDS), exact) < 0.06


@in_int8
@pytest.mark.parametrize("sizes", [[1] * 90, [7] * 13, [64, 26], [3, 60, 1, 26]])
def test_a_row_is_the_same_to_the_bit_in_any_chunk(sizes: list[int], toy: Path) -> None:
    backbone = toy_backbone(toy, matrices="int8")
    whole = run_causally(backbone, backbone.new_cache(), _IDS)
    cache, left, parts = backbone.new_cache(), list(_IDS), []
    for size in sizes:
        chunk, left = left[:size], left[size:]
        if chunk:
            parts.append(run_causally(backbone, cache, chunk))
    assert torch.equal(torch.cat(parts), whole)


@pytest.mark.parametrize("num_hidden", [0, 1, 3, 40])
@pytest.mark.parametrize("matrices", ["plain", pytest.param("int8", marks=in_int8)])
def test_the_last_hidden_states_are_those_of_a_whole_pass(num_hidden, matrices, toy, drafter):
    backbone = toy_backbone(toy, drafter, matrices=matrices)
    whole, last = backbone.new_cache(), backbone.new_cache()
    every = backbone.forward(frozen_rows(_IDS[:40], start=0), whole)
    rows = frozen_rows(_IDS[:40], start=0, num_hidden=num_hidden)
    found = backbone.forward(rows, last)
    assert (found == every[40 - num_hidden :]).all() and found.shape[0] == num_hidden
    for cache in (whole, last):
        cache.commit(_IDS[:40])
    assert torch.equal(
        run_causally(backbone, last, _IDS[40:]), run_causally(backbone, whole, _IDS[40:])
    )


@in_int8
def test_a_context_may_be_cropped_copied_and_grown(toy: Path) -> None:
    backbone = toy_backbone(toy, matrices="int8")
    used, fresh, copied = backbone.new_cache(), backbone.new_cache(), backbone.new_cache()
    run_causally(backbone, used, [*_IDS[:30], *[7] * 50])
    used.crop(30)
    copied.copy_prefix(used, 21)
    expected = run_causally(backbone, fresh, _IDS)
    assert torch.equal(run_causally(backbone, used, _IDS[30:]), expected[30:])
    assert torch.equal(run_causally(backbone, copied, _IDS[21:]), expected[21:])


@in_int8
@pytest.mark.parametrize("prefix", ["def f(x):\n    return ", "a = [", "for i in "])
def test_a_text_is_the_same_in_every_decoding(prefix, text, toy, drafter):
    def written(decoding: Decoding) -> str:
        model = OpenContext(toy_backbone(toy, drafter, matrices="int8"), cache_tokens=4096)
        info = ModelInfo(name="toy", family="", device="cpu", dtype="int8", notes=())
        filler = MaskedCausalFiller(model, text, info, max_context_tokens=1024)
        return run_fill(filler, toy_fill(prefix=prefix, max_tokens=40, decoding=decoding)).text

    assert written("speculative") == written("autoregressive") != ""
