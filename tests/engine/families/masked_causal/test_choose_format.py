"""The format of matrices is the configured one, else the one that multiplies fastest."""

from pathlib import Path

import pytest
import torch
from torch import Tensor
from toy_causal import CPU

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone import int8_backbone, load
from intarsia.engine.families.masked_causal.backbone.load import Format, choose_format, fastest
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.families.masked_causal.backbone.torch_backbone import (
    Linear,
    MatrixFormat,
    can_pack,
    pack,
    torch_weights,
)
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights, LayerWeights
from intarsia.engine.model_store.checkpoint import read_config

packing = pytest.mark.skipif(not can_pack(torch.float32), reason="oneDNN packs nothing here")
in_int8 = pytest.mark.skipif(
    not int8_backbone.is_int8_supported(), reason="this processor has no int8 dot product"
)


@pytest.fixture
def shape(toy: Path) -> BackboneShape:
    return read_shape(read_config(toy))


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> list[list[Format]]:
    """Make the calibration choose the last format; return the formats that it was offered."""
    seen: list[list[Format]] = []

    def last(formats: list[Format], *_: object) -> Format:
        seen.append(formats)
        return formats[-1]

    monkeypatch.setattr(load, "fastest", last)
    return seen


def choose(wanted, shape, *, dtype=torch.float32, device=CPU, has_room=True) -> Format:
    def room(of: Format) -> bool:
        return has_room or of == "int8"

    return choose_format(wanted, shape, dtype=dtype, device=device, has_room=room)[0]


@in_int8
def test_int8_is_for_a_cpu_with_an_int8_dot_product_and_heads_that_fill_vectors(shape, monkeypatch):
    assert choose("int8", shape) == "int8"
    with pytest.raises(ModelError, match="int8 cannot run here: it is for the CPU"):
        choose("int8", shape, device=torch.device("cuda"))
    with monkeypatch.context() as patch, pytest.raises(ModelError, match="of 16 numbers do not"):
        patch.setattr(int8_backbone, "num_lanes", lambda: 5)
        choose("int8", shape)
    monkeypatch.setattr(int8_backbone, "is_int8_supported", lambda: False)
    with pytest.raises(ModelError, match="nor dot products of bytes"):
        choose("int8", shape)


@in_int8
@packing
def test_the_fastest_of_the_allowed_formats_is_chosen(shape, offered):
    assert choose("auto", shape) == "int8"
    assert choose("auto", shape, has_room=False) == "int8"
    assert offered == [["plain", "packed", "int8"], ["plain", "int8"]]


@in_int8
@packing
def test_nothing_is_copied_where_there_is_no_room(shape, offered):
    found = choose_format("auto", shape, dtype=torch.float32, device=CPU, has_room=lambda of: False)
    assert (found, offered) == (("plain", ("int8 is not used: memory is short",)), [])


@in_int8
def test_a_failing_compiler_rules_out_int8_but_not_the_load(shape, monkeypatch, offered):
    def fails() -> bool:
        raise OSError("no space left")

    monkeypatch.setattr(int8_backbone, "is_int8_supported", fails)
    assert choose("auto", shape) != "int8"
    with pytest.raises(ModelError, match=r"cannot be compiled here.*no space left"):
        choose("int8", shape)


@packing
def test_a_configured_number_format_is_kept(shape: BackboneShape, offered: list[list[Format]]):
    assert choose("float32", shape) == "packed"
    assert choose("float32", shape, has_room=False) == "plain"
    assert offered == [["plain", "packed"]]  # a single format is not timed


def test_on_another_device_matrices_stay_plain(shape: BackboneShape, offered: list[list[Format]]):
    assert choose("auto", shape, device=torch.device("cuda")) == "plain"
    assert not offered


@in_int8
@packing
@pytest.mark.parametrize(
    ("seconds", "chosen"),
    [
        ((1.0, 0.8, 0.6), "int8"),
        ((1.0, 0.8, 0.75), "packed"),
        ((1.0, 0.95, 0.85), "int8"),
        ((1.0, 0.95, 2.0), "plain"),
    ],
)
def test_a_format_must_be_worth_its_price(shape, seconds, chosen, monkeypatch):
    turn = iter(range(10_000))
    monkeypatch.setattr(load, "_seconds", lambda product: seconds[next(turn) % 3])
    assert fastest(["plain", "packed", "int8"], shape, torch.float32) == chosen


@in_int8
@packing
def test_the_calibration_multiplies_in_each_format(shape: BackboneShape, monkeypatch):
    seen: list[float] = []

    def seconds(product: object) -> float:
        found = product()
        seen.append(float(torch.as_tensor(found).float().mean()))
        return 1.0

    monkeypatch.setattr(load, "_seconds", seconds)
    fastest(["plain", "packed", "int8"], shape, torch.float32)
    assert len(seen) > 9 and len(seen) % 3 == 0
    assert seen == pytest.approx([0.5 * shape.hidden] * len(seen), rel=0.02)


FORMATS = ["plain", pytest.param("packed", marks=packing)]


def numbers(*size: int, seed: int = 0) -> Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed))


def error(found: Tensor, exact: Tensor) -> float:
    return float((found - exact).norm() / exact.norm())


@packing
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("num_rows", [1, 8, 70])
def test_a_packed_matrix_makes_the_same_product(num_rows: int, dtype: torch.dtype) -> None:
    if not can_pack(dtype):
        pytest.skip(f"oneDNN packs no {dtype} here")
    weight, bias = numbers(48, 160, seed=1).to(dtype), numbers(48, seed=2).to(dtype)
    x = numbers(num_rows, 160).to(dtype)
    torch.testing.assert_close(pack(weight, bias).multiply(x), Linear(weight, bias).multiply(x))


@pytest.mark.parametrize("matrices", FORMATS[1:])
def test_packed_weights_do_not_hold_the_originals(matrices: MatrixFormat) -> None:
    weights = _weights()
    tensors = [weights.norm, *_tensors(weights.layers[0])]
    before = [tensor.clone() for tensor in tensors]
    as_run = torch_weights(weights, matrices)
    assert all(map(torch.equal, tensors, before))
    x = numbers(3, 16)
    qkv = as_run.layers[0].qkv.multiply(x)
    for tensor in tensors:
        tensor.zero_()
    layer = as_run.layers[0]
    assert as_run.norm.all() and layer.attn_norm.all() and layer.mlp_norm.all()
    for copied in (layer.q_norm, layer.k_norm):
        assert copied is not None and copied.all()
    assert torch.equal(layer.qkv.multiply(x), qkv)  # its bias too


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
