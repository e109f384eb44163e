"""A matrix in int8 multiplies as the matrix does, each row for itself."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from intarsia.engine.families.backbone_weights import BackboneWeights, LayerWeights
from intarsia.engine.families.matrix import adds_bytes_exactly, int8_matrix
from intarsia.engine.families.pass_weights import int8_weights, plain_weights

pytestmark = pytest.mark.skipif(not adds_bytes_exactly(), reason="no dot products of bytes here")

_OUT, _IN = 48, 160


def numbers(*size: int, seed: int = 0) -> Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed))


def error(found: Tensor, exact: Tensor) -> float:
    return float((found - exact).norm() / exact.norm())


@pytest.fixture
def weight() -> Tensor:
    return numbers(_OUT, _IN, seed=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_product_is_near_the_exact_one(weight: Tensor, dtype: torch.dtype) -> None:
    x, bias = numbers(5, _IN), numbers(_OUT, seed=2)
    matrix = int8_matrix(weight.to(dtype))
    y = matrix.multiply(x.to(dtype), bias.to(dtype))
    assert (y.dtype, y.shape) == (dtype, (5, _OUT))
    assert 0 < error(y.float(), x @ weight.T + bias) < 0.02


def test_where_few_numbers_are_far_larger_sixteen_bits_count(weight: Tensor) -> None:
    x = numbers(5, _IN)
    x[:, 3] = 400.0
    weight[:, 3] = 0.0  # the others alone make the product
    exact = x @ weight.T
    coarse, fine = int8_matrix(weight), int8_matrix(weight, is_fine=True)
    assert error(coarse.multiply(x, None), exact) > 0.5
    assert error(fine.multiply(x, None), exact) < 0.02


@given(st.integers(1, 9), st.integers(0, 1000), st.booleans())
def test_a_row_does_not_depend_on_the_rows_beside_it(
    num_rows: int, seed: int, is_fine: bool
) -> None:
    matrix = int8_matrix(numbers(_OUT, _IN, seed=1), is_fine=is_fine)
    x = numbers(num_rows, _IN, seed=seed)
    together = matrix.multiply(x, None)
    for i in range(num_rows):
        assert torch.equal(together[i : i + 1], matrix.multiply(x[i : i + 1], None))


@pytest.mark.parametrize("is_fine", [False, True])
def test_rows_of_nothing_and_weights_of_nothing_make_nothing(is_fine: bool) -> None:
    weight, x = numbers(_OUT, _IN), numbers(3, _IN)
    weight[7] = x[1] = 0.0
    y = int8_matrix(weight, is_fine=is_fine).multiply(x, None)
    assert torch.isfinite(y).all()
    assert not y[1].any() and not y[:, 7].any()
    assert y[0, 6] != 0


def test_rows_of_the_matrix_are_near_the_weights_own(weight: Tensor) -> None:
    chosen = torch.tensor([5, 0, 5, 47])
    assert 0 < error(int8_matrix(weight).rows(chosen), weight[chosen]) < 0.01


def test_a_matrix_of_many_rows_is_the_same_as_its_parts() -> None:
    weight = numbers(20_000, 4)
    whole = int8_matrix(weight)
    last = int8_matrix(weight[-5:])
    assert torch.equal(whole.numbers[-5:], last.numbers)
    assert torch.equal(whole.scales[-5:], last.scales)


def test_nothing_of_the_weights_is_held_or_changed() -> None:
    weights = _weights()
    tensors = [weights.norm, *_tensors(weights.layers[0])]
    before = [tensor.clone() for tensor in tensors]
    as_run = int8_weights(weights)
    assert all(map(torch.equal, tensors, before))
    for tensor in tensors:
        tensor.zero_()
    layer = as_run.layers[0]
    assert as_run.norm.all() and layer.attn_norm.all() and layer.mlp_norm.all()
    for copied in (layer.qkv_bias, layer.q_norm, layer.k_norm):
        assert copied is not None and copied.all()
    assert layer.o.rows(torch.tensor([0])).any()


def test_tied_ends_stay_one_matrix() -> None:
    tied = _weights()
    for as_run in (int8_weights, plain_weights):
        converted = as_run(tied)
        assert converted.output is converted.embed
        apart = as_run(replace(tied, output=tied.output.clone()))
        assert apart.output is not apart.embed


def _tensors(layer: LayerWeights[Tensor]) -> list[Tensor]:
    found = [getattr(layer, name) for name in layer.__dataclass_fields__]
    return [tensor for tensor in found if tensor is not None]


def _weights() -> BackboneWeights[Tensor]:
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
