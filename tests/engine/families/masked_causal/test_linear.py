"""A matrix gives the same products in every format."""

import pytest
import torch
from torch import Tensor

from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.adapter import (
    GatedAdapter,
    LowRankLayer,
)
from intarsia.engine.families.masked_causal.backbone.torch_weights import (
    Linear,
    MatrixFormat,
    TorchLayer,
    can_pack,
    pack,
    torch_weights,
)
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights

packing = pytest.mark.skipif(not can_pack(torch.float32), reason="oneDNN packs nothing here")
FORMATS = ["plain", pytest.param("packed", marks=packing)]

_OUT, _IN = 48, 160


def numbers(*size: int, seed: int = 0) -> Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed))


def error(found: Tensor, exact: Tensor) -> float:
    return float((found - exact).norm() / exact.norm())


@pytest.fixture
def weight() -> Tensor:
    return numbers(_OUT, _IN, seed=1)


@packing
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("num_rows", [1, 8, 70])
def test_a_packed_matrix_makes_the_same_product(
    weight: Tensor, num_rows: int, dtype: torch.dtype
) -> None:
    if not can_pack(dtype):
        pytest.skip(f"oneDNN packs no {dtype} here")
    x, bias = numbers(num_rows, _IN).to(dtype), numbers(_OUT, seed=2).to(dtype)
    exact = Linear(weight.to(dtype), bias).multiply(x)
    found = pack(weight.to(dtype), bias).multiply(x)
    torch.testing.assert_close(found, exact)


@pytest.mark.parametrize("matrices", FORMATS[1:])
@pytest.mark.parametrize("adapter", [False, True])
def test_packed_weights_do_not_hold_the_originals(matrices: MatrixFormat, adapter: bool) -> None:
    weights = _weights()
    tensors = [weights.norm, *_tensors(weights.layers[0])]
    before = [tensor.clone() for tensor in tensors]
    as_run = torch_weights(weights, _adapter() if adapter else None, matrices)
    assert all(map(torch.equal, tensors, before))
    x = numbers(3, 16)
    qkv = as_run.layers[0].qkv.multiply(x, 1)
    for tensor in tensors:
        tensor.zero_()
    layer = as_run.layers[0]
    assert as_run.norm.all() and layer.attn_norm.all() and layer.mlp_norm.all()
    for copied in (layer.q_norm, layer.k_norm):
        assert copied is not None and copied.all()
    assert torch.equal(layer.qkv.multiply(x, 1), qkv)  # its bias too


@pytest.mark.parametrize("matrices", FORMATS)
@pytest.mark.parametrize("num_frozen", [0, 2, 5])
def test_an_adapter_acts_on_canvas_rows_alone(matrices: MatrixFormat, num_frozen: int) -> None:
    weights, change = _weights(), _adapter()
    bare, gated = (torch_weights(weights, it, matrices).layers[0] for it in (None, change))
    exact = torch_weights(weights, change, "plain").layers[0]
    for name, width in (("qkv", 16), ("o", 16), ("gate_up", 16), ("down", 32)):
        x = numbers(5, width, seed=4)
        found, plain = (_product(it, name, x, num_frozen) for it in (gated, bare))
        torch.testing.assert_close(found[:num_frozen], plain[:num_frozen])
        if num_frozen < 5:
            assert error(found[num_frozen:], plain[num_frozen:]) > 0.2
        assert error(found, _product(exact, name, x, num_frozen)) < 0.03


def test_an_adapted_matrix_adds_the_low_rank_product() -> None:
    weights, change = _weights(), _adapter()
    pair, x = change.layers[0].down, numbers(4, 32)
    found = torch_weights(weights, change, "plain").layers[0].down.multiply(x, 1)
    expected = x @ weights.layers[0].down.T
    expected[1:] += x[1:] @ pair.down.T @ pair.up.T
    torch.testing.assert_close(found, expected)


def _product(layer: TorchLayer, name: str, x: Tensor, num_frozen: int) -> Tensor:
    found: Tensor = getattr(layer, name).multiply(x, num_frozen)
    return found


def _adapter() -> GatedAdapter:
    def pair(into: int, out: int, seed: int) -> LowRank:
        return LowRank(down=numbers(4, into, seed=seed), up=numbers(out, 4, seed=seed + 1))

    layer = LowRankLayer(
        qkv=pair(16, 32, 10), o=pair(16, 16, 12), gate_up=pair(16, 64, 14), down=pair(32, 16, 16)
    )
    return GatedAdapter(layers=(layer,), mask=torch.ones(16), head=None)


def _tensors(layer: LayerWeights) -> list[Tensor]:
    found = [getattr(layer, name) for name in layer.__dataclass_fields__]
    return [tensor for tensor in found if tensor is not None]


def _weights() -> BackboneWeights:
    embed = numbers(32, 16)
    layer = LayerWeights(
        attn_norm=torch.ones(16),
        qkv=numbers(32, 16),
        qkv_bias=torch.ones(32),
        q_norm=torch.ones(8),
        k_norm=torch.ones(8),
        o=numbers(16, 16),
        mlp_norm=torch.ones(16),
        gate_up=numbers(64, 16),
        down=numbers(16, 32),
    )
    return BackboneWeights(embed=embed, output=embed, norm=torch.ones(16), layers=(layer,))
