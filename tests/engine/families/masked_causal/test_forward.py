"""Our forward pass against transformers' own, and what canvas rows may touch and see."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from toy_causal import KINDS, Kind, save_toy, toy_backbone, toy_causal_model, toy_context
from transformers import AutoModelForCausalLM

from intarsia.engine.diffusion.canvas import TokenCanvas, masked_canvas
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone, Rows
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import canvas_rows, outcome_rows
from intarsia.engine.families.masked_causal.backbone.torch_weights import can_pack
from intarsia.engine.families.masked_causal.passes import CanvasPasses, SpeculativePasses

_IDS = torch.randint(0, 256, (90,), generator=torch.Generator().manual_seed(5)).tolist()


@pytest.fixture(autouse=True)
def inference() -> Iterator[None]:
    with torch.inference_mode():
        yield


def causal_rows(ids: list[int], start: int) -> Rows:
    return canvas_rows(ids, [], start=start, device=torch.device("cpu"))


def run_causally(backbone: CausalBackbone, cache: KvCache, ids: list[int]) -> torch.Tensor:
    hidden = backbone.forward(causal_rows(ids, len(cache)), cache)
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


@pytest.mark.skipif(not can_pack(torch.float32), reason="oneDNN packs nothing here")
@pytest.mark.parametrize("kind", KINDS)
def test_packed_weights_give_the_same_logits(kind: Kind, toys: dict[str, Path]) -> None:
    plain, packed = toy_backbone(toys[kind]), toy_backbone(toys[kind], matrices="packed")
    exact = run_causally(plain, plain.new_cache(), _IDS)
    found = run_causally(packed, packed.new_cache(), _IDS)
    torch.testing.assert_close(found, exact, atol=1e-4, rtol=1e-4)


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
    rows = outcome_rows(
        ids[30:], [2] * 10, start=30, mask_id=mixed.mask_id, device=torch.device("cpu")
    )
    logits = mixed.logits(mixed.forward(rows, other))
    other.commit(ids[30:])
    torch.testing.assert_close(logits[:10], causal[30:], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(held(other, 40), held(one, 40), atol=1e-5, rtol=1e-4)


def test_canvas_rows_do_pass_through_the_adapter(toy: Path, adapter: Path) -> None:
    def canvas_logits(backbone: CausalBackbone) -> torch.Tensor:
        cache = backbone.new_cache()
        return backbone.logits(
            backbone.forward(canvas_rows(_IDS[:5], [9, 9], start=0, device=CPU), cache)
        )[5:]

    CPU = torch.device("cpu")
    difference = canvas_logits(toy_backbone(toy)) - canvas_logits(toy_backbone(toy, adapter))
    assert difference.abs().max() > 0.1


def test_an_outcome_sees_neither_other_outcomes_nor_later_tokens(toy: Path, adapter: Path) -> None:
    backbone = toy_backbone(toy, adapter)
    cache = backbone.new_cache()
    run_causally(backbone, cache, _IDS[:20])
    masks = [3, 2, 4]

    def hidden_of(ids: list[int]) -> torch.Tensor:
        rows = outcome_rows(_IDS[20:23], masks, start=20, mask_id=9, device=torch.device("cpu"))
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


def test_an_outcome_is_the_same_alone_and_among_others(toy: Path, adapter: Path) -> None:
    causal = toy_context(toy, adapter)
    causal.prefill(_IDS[:20])
    passes = SpeculativePasses(causal)
    together = passes.verify(_IDS[20:23], [3, 0, 4])
    assert [len(proposal) for proposal in together.proposals] == [3, 0, 4]
    alone = passes.verify(_IDS[20:23], [0, 0, 4])
    torch.testing.assert_close(alone.proposals[2], together.proposals[2], atol=1e-4, rtol=1e-4)
    passes.keep(1)
    first = passes.verify(_IDS[21:23], [0, 4])  # the same place, one token further on
    torch.testing.assert_close(first.proposals[1], together.proposals[2], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(first.causal, together.causal[1:], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("num_kept", [0, 1, 2])
def test_an_outcome_is_a_canvas_after_its_tokens(toy: Path, adapter: Path, num_kept: int) -> None:
    causal, backbone = toy_context(toy, adapter), toy_backbone(toy, adapter)
    causal.prefill(_IDS[:20])
    said = SpeculativePasses(causal).verify(_IDS[20:23], [2, 3, 4])
    cache = backbone.new_cache()
    run_causally(backbone, cache, _IDS[:20])
    frozen, masks = _IDS[20 : 21 + num_kept], [backbone.mask_id] * (2 + num_kept)
    rows = canvas_rows(frozen, masks, start=20, device=torch.device("cpu"))
    expected = backbone.logits(backbone.forward(rows, cache))[len(frozen) :]
    torch.testing.assert_close(said.proposals[num_kept], expected, atol=1e-4, rtol=1e-4)


def accepted_canvas(ids: list[int | None]) -> TokenCanvas:
    """A canvas of known tokens; all except the first were accepted by earlier steps."""
    canvas = masked_canvas(ids, mask_id=260)
    is_first = torch.arange(len(ids)) == 0
    return TokenCanvas(ids=canvas.ids, is_fixed=is_first, is_accepted=canvas.is_fixed & ~is_first)


def predict(passes: CanvasPasses, ids: list[int | None]) -> torch.Tensor:
    return passes.predict(accepted_canvas(ids), None)


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
