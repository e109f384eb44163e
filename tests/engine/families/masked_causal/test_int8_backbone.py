"""Compiled passes agree with torch's, and a frozen row's result does not depend on other rows."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from toy_causal import KINDS, Kind, toy_backbone, toy_fill, toy_text
from toy_causal_fill import run_fill

from intarsia.engine.families.masked_causal.backbone.choose_format import Format
from intarsia.engine.families.masked_causal.backbone.int8_weights import is_int8_supported
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rows import (
    canvas_rows,
    frozen_rows,
    outcome_rows,
)
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.families.masked_causal.passes import SpeculativePasses
from intarsia.engine.filler import ModelInfo
from intarsia.engine.ipc.messages import Decoding

pytestmark = pytest.mark.skipif(
    not is_int8_supported(), reason="this processor has no int8 dot product"
)

CPU = torch.device("cpu")
_IDS = torch.randint(0, 256, (90,), generator=torch.Generator().manual_seed(5)).tolist()


@pytest.fixture(autouse=True)
def inference() -> Iterator[None]:
    with torch.inference_mode():
        yield


def read(backbone: CausalBackbone, cache: KvCache, ids: list[int]) -> torch.Tensor:
    hidden = backbone.forward(canvas_rows(ids, [], start=len(cache), device=CPU), cache)
    cache.commit(ids)
    return backbone.logits(hidden)


def error(result: torch.Tensor, exact: torch.Tensor) -> float:
    return float((result - exact).norm() / exact.norm())


@pytest.mark.parametrize("kind", KINDS)
def test_logits_are_near_those_of_torch(kind: Kind, toys: dict[str, Path]) -> None:
    plain, int8 = toy_backbone(toys[kind]), toy_backbone(toys[kind], matrices="int8")
    exact = read(plain, plain.new_cache(), _IDS)
    assert 0 < error(read(int8, int8.new_cache(), _IDS), exact) < 0.06


def test_canvas_rows_take_the_adapter_and_frozen_rows_do_not(toy: Path, adapter: Path) -> None:
    rows = outcome_rows(_IDS[20:23], [2, 3, 4], start=20, mask_id=9, device=CPU)

    def logits_of(backbone: CausalBackbone) -> torch.Tensor:
        cache = backbone.new_cache()
        read(backbone, cache, _IDS[:20])
        return backbone.logits(backbone.forward(rows, cache))

    exact = logits_of(toy_backbone(toy, adapter))
    found = logits_of(toy_backbone(toy, adapter, matrices="int8"))
    bare = logits_of(toy_backbone(toy, matrices="int8"))
    assert torch.equal(found[:3], bare[:3])
    assert error(found[3:], exact[3:]) < 0.08 < error(bare[3:], exact[3:])


@pytest.mark.parametrize("sizes", [[1] * 90, [7] * 13, [64, 26], [3, 60, 1, 26]])
def test_a_row_is_the_same_to_the_bit_in_any_chunk(sizes: list[int], toy: Path) -> None:
    backbone = toy_backbone(toy, matrices="int8")
    whole = read(backbone, backbone.new_cache(), _IDS)
    cache, left, parts = backbone.new_cache(), list(_IDS), []
    for size in sizes:
        chunk, left = left[:size], left[size:]
        if chunk:
            parts.append(read(backbone, cache, chunk))
    assert torch.equal(torch.cat(parts), whole)


@pytest.mark.parametrize("num_hidden", [0, 1, 3, 40])
@pytest.mark.parametrize("matrices", ["plain", "int8"])
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
    assert torch.equal(read(backbone, last, _IDS[40:]), read(backbone, whole, _IDS[40:]))


def test_an_outcome_gives_the_same_proposal_alone_or_not(toy: Path, adapter: Path) -> None:
    causal = OpenContext(toy_backbone(toy, adapter, matrices="int8"), cache_tokens=4096)
    causal.prefill(_IDS[:20])
    passes = SpeculativePasses(causal)
    together = passes.verify(_IDS[20:23], [3, 0, 4])
    alone = passes.verify(_IDS[20:23], [0, 0, 4])
    assert torch.equal(alone.causal, together.causal)
    torch.testing.assert_close(alone.proposals[2], together.proposals[2], atol=1e-2, rtol=1e-2)


def test_a_context_may_be_cropped_copied_and_grown(toy: Path) -> None:
    backbone = toy_backbone(toy, matrices="int8")
    used, fresh, copied = backbone.new_cache(), backbone.new_cache(), backbone.new_cache()
    read(backbone, used, [*_IDS[:30], *[7] * 50])
    used.crop(30)
    copied.copy_prefix(used, 21)
    expected = read(backbone, fresh, _IDS)
    assert torch.equal(read(backbone, used, _IDS[30:]), expected[30:])
    assert torch.equal(read(backbone, copied, _IDS[21:]), expected[21:])


@pytest.mark.parametrize("prefix", ["def f(x):\n    return ", "a = [", "for i in "])
def test_a_text_is_the_same_in_every_decoding(prefix: str, toy: Path, adapter: Path) -> None:
    def text(decoding: Decoding) -> str:
        model = OpenContext(toy_backbone(toy, adapter, matrices="int8"), cache_tokens=4096)
        info = ModelInfo(name="toy", family="", device="cpu", dtype="int8", notes=())
        filler = MaskedCausalFiller(model, toy_text(toy), info, max_context_tokens=1024)
        return run_fill(filler, toy_fill(prefix=prefix, max_tokens=40, decoding=decoding)).text

    assert text("speculative") == text("autoregressive") != ""
