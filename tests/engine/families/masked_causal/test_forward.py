"""Our forward passes against transformers' own, and what canvas rows may touch and see.

Compiled ones agree with torch's; no result of a frozen row depends on other rows.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from toy_causal import (
    CPU,
    KINDS,
    Kind,
    save_toy,
    toy_backbone,
    toy_causal_model,
    toy_context,
    toy_fill,
)
from toy_causal_fill import run_fill
from transformers import AutoModelForCausalLM

from intarsia.engine.diffusion.canvas import TokenCanvas, masked_canvas
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import FimTokenizer
from intarsia.engine.families.masked_causal.backbone.int8_backbone import is_int8_supported
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone, Rows
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.load import Format
from intarsia.engine.families.masked_causal.backbone.rows import (
    canvas_rows,
    frozen_rows,
    outcome_rows,
)
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.passes import CanvasPasses, SpeculativePasses
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
    hidden = backbone.forward(frozen_rows(ids, start=len(cache), device=CPU), cache)
    cache.commit(ids)
    return backbone.logits(hidden)


def held(cache: KvCache, length: int) -> torch.Tensor:
    """Keys and values of the first tokens."""
    return torch.cat([cache.keys[:, :, :length, :, 0], cache.values[:, :, :length]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_tied", [True, False])
def test_logits_are_those_of_transformers(kind: Kind, is_tied: bool, tmp_path: Path) -> None:
    model = toy_causal_model(kind, seed=3, is_tied=is_tied)
    backbone = toy_backbone(save_toy(tmp_path / kind, model))
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


def test_a_long_context_is_read_in_chunks(toy: Path) -> None:
    ids = (_IDS * 13)[:1100]  # more than two chunks, and past the toy's trained length
    model = AutoModelForCausalLM.from_pretrained(toy, dtype=torch.float32)
    causal = toy_context(toy)
    assert causal.prefill(ids).num_computed == 1100
    theirs = model(torch.tensor([ids])).logits[0, -1]
    torch.testing.assert_close(causal.next_logits(), theirs, atol=1e-3, rtol=1e-3)


def test_frozen_rows_are_untouched_by_the_adapter(toy: Path, adapter: Path) -> None:
    pure, mixed = toy_backbone(toy), toy_backbone(toy, adapter)
    one, other = pure.new_cache(), mixed.new_cache()
    ids = [*_IDS[:9], mixed.mask_id, *_IDS[10:35], mixed.mask_id, *_IDS[36:40]]
    causal = run_causally(pure, one, ids)
    run_causally(mixed, other, ids[:30])
    rows = outcome_rows(ids[30:], [2] * 10, start=30, mask_id=mixed.mask_id, device=CPU)
    logits = mixed.logits(mixed.forward(rows, other))
    other.commit(ids[30:])
    torch.testing.assert_close(logits[:10], causal[30:], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(held(other, 40), held(one, 40), atol=1e-5, rtol=1e-4)


def test_an_outcome_sees_neither_other_outcomes_nor_later_tokens(toy: Path, adapter: Path) -> None:
    backbone = toy_backbone(toy, adapter)
    cache = backbone.new_cache()
    run_causally(backbone, cache, _IDS[:20])
    masks = [3, 2, 4]

    def hidden_of(ids: list[int]) -> torch.Tensor:
        rows = outcome_rows(_IDS[20:23], masks, start=20, mask_id=9, device=CPU)
        changed = Rows(
            ids=torch.tensor(ids),
            positions=rows.positions,
            num_frozen=rows.num_frozen,
            visible=rows.visible,
        )
        return backbone.forward(changed, cache)

    plain = [*_IDS[20:23], *[9] * 9]
    before = hidden_of(plain)
    spans = {0: (3, 6), 1: (6, 8), 2: (8, 12)}
    for j, (first, last) in spans.items():
        touched = list(plain)
        touched[first:last] = [77] * (last - first)
        after = hidden_of(touched)
        for k, (low, high) in spans.items():
            is_same = torch.allclose(after[low:high], before[low:high], atol=1e-5)
            assert is_same == (k != j)
        assert torch.allclose(after[:3], before[:3], atol=1e-5), "frozen rows see no canvas"
    touched = [*plain[:2], 77, *plain[3:]]  # the last token: only the last outcome may see it
    after = hidden_of(touched)
    assert torch.allclose(after[3:8], before[3:8], atol=1e-5)
    assert not torch.allclose(after[8:], before[8:], atol=1e-3)


@pytest.mark.parametrize(
    ("matrices", "off"), [("plain", 1e-4), pytest.param("int8", 1e-2, marks=in_int8)]
)
def test_an_outcome_is_the_same_alone_and_among_others(
    toy: Path, adapter: Path, matrices: Format, off: float
) -> None:
    causal = OpenContext(toy_backbone(toy, adapter, matrices=matrices), cache_tokens=4096)
    causal.prefill(_IDS[:20])
    passes = SpeculativePasses(causal)
    together = passes.verify(_IDS[20:23], [3, 0, 4])
    assert [len(proposal) for proposal in together.proposals] == [3, 0, 4]
    alone = passes.verify(_IDS[20:23], [0, 0, 4])
    torch.testing.assert_close(alone.proposals[2], together.proposals[2], atol=off, rtol=off)
    if matrices == "int8":
        assert torch.equal(alone.causal, together.causal)
        return
    passes.keep(1)
    first = passes.verify(_IDS[21:23], [0, 4])  # the same place, one token further on
    torch.testing.assert_close(first.proposals[1], together.proposals[2], atol=off, rtol=off)
    torch.testing.assert_close(first.causal, together.causal[1:], atol=off, rtol=off)


@pytest.mark.parametrize("num_kept", [0, 1, 2])
def test_an_outcome_is_a_canvas_after_its_tokens(toy: Path, adapter: Path, num_kept: int) -> None:
    causal, backbone = toy_context(toy, adapter), toy_backbone(toy, adapter)
    causal.prefill(_IDS[:20])
    said = SpeculativePasses(causal).verify(_IDS[20:23], [2, 3, 4])
    cache = backbone.new_cache()
    run_causally(backbone, cache, _IDS[:20])
    frozen, masks = _IDS[20 : 21 + num_kept], [backbone.mask_id] * (2 + num_kept)
    rows = canvas_rows(frozen, masks, start=20, device=CPU)
    expected = backbone.logits(backbone.forward(rows, cache))[len(frozen) :]
    torch.testing.assert_close(said.proposals[num_kept], expected, atol=1e-4, rtol=1e-4)


def predict(passes: CanvasPasses, ids: list[int | None]) -> torch.Tensor:
    """Predict a canvas of known tokens; all except the first were accepted by earlier steps."""
    canvas = masked_canvas(ids, mask_id=260)
    is_first = torch.arange(len(ids)) == 0
    accepted = canvas.is_fixed & ~is_first
    return passes.predict(
        TokenCanvas(ids=canvas.ids, is_fixed=is_first, is_accepted=accepted), None
    )


def test_leading_known_tokens_are_predicted_by_the_backbone(toy: Path, adapter: Path) -> None:
    causal, pure = toy_context(toy, adapter), toy_backbone(toy)
    written, canvas = _IDS[20:23], _IDS[23:30]
    expected = run_causally(pure, pure.new_cache(), _IDS[:30])
    causal.prefill(_IDS[:20])
    passes = CanvasPasses(causal)
    passes.open_canvas(written)
    logits = predict(passes, [*canvas, None, None, _IDS[50], None])
    assert logits.shape == (11, causal.backbone.shape.vocab_size)
    mask_id = pure.mask_id
    expected[:, mask_id] = -torch.inf
    assert torch.isneginf(logits[1:, mask_id]).all(), "the mask itself is never written"
    torch.testing.assert_close(logits[1:8], expected[23:30], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_predict_does_not_depend_on_the_steps_before(seed: int, toy: Path, adapter: Path) -> None:
    """Tokens are accepted out of order and masked again: the cache must follow."""
    random = torch.Generator().manual_seed(seed)
    context = toy_context(toy, adapter)
    context.prefill(_IDS[:20])
    worn = CanvasPasses(context)
    for _ in range(12):
        num_written = int(torch.randint(0, 4, (), generator=random))
        is_open = torch.rand(8, generator=random) < 0.4
        is_other = torch.rand(8, generator=random) < 0.15
        ids: list[int | None] = [
            None if is_open[i] else 77 if is_other[i] else _IDS[20 + num_written + i]
            for i in range(8)
        ]
        ids[0] = _IDS[20 + num_written]
        if None not in ids:
            ids[-1] = None
        worn.open_canvas(_IDS[20 : 20 + num_written])
        context = toy_context(toy, adapter)
        context.prefill(_IDS[:20])
        fresh = CanvasPasses(context)
        fresh.open_canvas(_IDS[20 : 20 + num_written])
        torch.testing.assert_close(
            predict(worn, ids)[1:], predict(fresh, ids)[1:], atol=1e-4, rtol=1e-4
        )


def error(result: torch.Tensor, exact: torch.Tensor) -> float:
    return float((result - exact).norm() / exact.norm())


@in_int8
@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_near_those_of_torch(kind: Kind, toys: dict[str, Path]) -> None:
    plain, int8 = toy_backbone(toys[kind]), toy_backbone(toys[kind], matrices="int8")
    exact = run_causally(plain, plain.new_cache(), _IDS)
    assert 0 < error(run_causally(int8, int8.new_cache(), _IDS), exact) < 0.06


@in_int8
def test_canvas_rows_take_the_adapter_and_frozen_rows_do_not(toy: Path, adapter: Path) -> None:
    rows = outcome_rows(_IDS[20:23], [2, 3, 4], start=20, mask_id=9, device=CPU)

    def logits_of(backbone: CausalBackbone) -> torch.Tensor:
        cache = backbone.new_cache()
        run_causally(backbone, cache, _IDS[:20])
        return backbone.logits(backbone.forward(rows, cache))

    exact = logits_of(toy_backbone(toy, adapter))
    found = logits_of(toy_backbone(toy, adapter, matrices="int8"))
    bare = logits_of(toy_backbone(toy, matrices="int8"))
    assert torch.equal(found[:3], bare[:3])
    assert error(found[3:], exact[3:]) < 0.08 < error(bare[3:], exact[3:])


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
def test_the_last_hidden_states_are_those_of_a_whole_pass(
    num_hidden: int, matrices: Format, toy: Path, adapter: Path
) -> None:
    backbone = toy_backbone(toy, adapter, matrices=matrices)
    whole, last = backbone.new_cache(), backbone.new_cache()
    every = backbone.forward(frozen_rows(_IDS[:40], start=0, device=CPU), whole)
    rows = frozen_rows(_IDS[:40], start=0, device=CPU, num_hidden=num_hidden)
    found = backbone.forward(rows, last)
    assert torch.equal(found, every[40 - num_hidden :])
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
def test_a_text_is_the_same_in_every_decoding(
    prefix: str, text: FimTokenizer, toy: Path, adapter: Path
) -> None:
    def written(decoding: Decoding) -> str:
        model = OpenContext(toy_backbone(toy, adapter, matrices="int8"), cache_tokens=4096)
        info = ModelInfo(name="toy", family="", device="cpu", dtype="int8", notes=())
        filler = MaskedCausalFiller(model, text, info, max_context_tokens=1024)
        return run_fill(filler, toy_fill(prefix=prefix, max_tokens=40, decoding=decoding)).text

    assert written("speculative") == written("autoregressive") != ""
