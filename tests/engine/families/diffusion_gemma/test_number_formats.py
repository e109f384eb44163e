"""Numbers in fewer bits come back as nearly as their format allows, and products with them too."""

import pytest
import torch
import torch.nn.functional as F
from devices import DEVICES
from torch import Tensor

from intarsia.engine.families.diffusion_gemma.quantized.linear import (
    LowBit,
    LowBitMatrices,
    LowBitMatrix,
    from_float8,
    from_int4,
    grouped_product,
    low_bit,
    product_by_product,
    to_float8,
    to_int4,
)
from intarsia.engine.families.diffusion_gemma.quantized.quantize import LowBitExperts


def numbers(*shape: int, seed: int = 0) -> Tensor:
    """Rows of very different sizes: one scale for all would lose the small ones."""
    random = torch.Generator().manual_seed(seed)
    sizes = 10.0 ** torch.randint(-3, 3, (*shape[:-1], 1), generator=random)
    return torch.randn(shape, generator=random) * sizes


def off(ours: Tensor, theirs: Tensor) -> float:
    """Return the relative error."""
    return float((ours.double() - theirs.double()).norm() / theirs.double().norm())


def test_float8_keeps_four_significant_bits_of_every_row() -> None:
    rows = numbers(5, 7, 96)
    kept, scale = to_float8(rows)
    assert (kept.dtype, kept.shape, scale.shape) == (torch.float8_e4m3fn, (5, 7, 96), (5, 7))
    back = from_float8(kept, scale, torch.float32)
    is_normal = rows.abs() > rows.abs().amax(dim=-1, keepdim=True) / 2**13
    relative = ((back - rows) / rows).abs()[is_normal]
    assert relative.max() <= 2**-4 * 1.001
    assert all(off(mine, row) < 0.04 for mine, row in zip(back[0], rows[0], strict=True))


def test_int4_is_half_a_byte_and_off_by_half_a_step_of_its_group_at_most() -> None:
    rows = numbers(3, 5, 192)
    packed, scale = to_int4(rows)
    assert (packed.dtype, packed.shape, scale.shape) == (torch.uint8, (3, 5, 96), (3, 5, 3))
    step = scale.repeat_interleave(64, dim=-1)
    assert ((from_int4(packed, scale) - rows).abs() <= 0.5001 * step).all()


def test_int4_gives_back_whole_steps_exactly() -> None:
    whole = torch.arange(-7, 8).repeat(2, 10)[:, :128].float()
    assert torch.equal(from_int4(*to_int4(whole * 0.25)), whole * 0.25)


@pytest.mark.parametrize("matrix", [torch.zeros(4, 64), torch.full((4, 64), 3.0)])
def test_rows_of_nothing_and_rows_of_one_number_survive(matrix: Tensor) -> None:
    torch.testing.assert_close(from_int4(*to_int4(matrix)), matrix)
    torch.testing.assert_close(from_float8(*to_float8(matrix), torch.float32), matrix)


@pytest.mark.parametrize("ends", [[3, 3, 7, 10], [0, 0, 0, 10], [10, 10, 10, 10]])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_grouped_product_is_each_row_s_own_matrix(ends: list[int], dtype: torch.dtype) -> None:
    rows, matrices = numbers(10, 16).to(dtype), numbers(4, 24, 16, seed=1).to(dtype)
    group_ends = torch.tensor(ends, dtype=torch.int32)
    expected = torch.stack(
        [
            F.linear(row, matrices[int((group_ends <= number).sum())])
            for number, row in enumerate(rows)
        ]
    )
    tolerance = 1e-5 if dtype == torch.float32 else 1e-2
    for product in (grouped_product, product_by_product):
        assert off(product(rows, matrices, group_ends), expected) < tolerance


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("kind", "tolerance"), [("fp8", 0.05), ("int4", 0.15)])
def test_a_matrix_in_fewer_bits_multiplies_nearly_as_before(
    kind: LowBit, tolerance: float, device: str
) -> None:
    matrix, rows = (
        each.to(device, torch.bfloat16) for each in (numbers(48, 128), numbers(2, 5, 128, seed=1))
    )
    exact = F.linear(rows.double(), matrix.double())
    out = LowBitMatrix(*low_bit(matrix, kind))(rows)
    assert (out.dtype, out.shape) == (torch.bfloat16, (2, 5, 48))
    assert off(out, exact) < tolerance


def exact_experts(
    rows: Tensor, gate_up: Tensor, down: Tensor, chosen: Tensor, weights: Tensor
) -> Tensor:
    """The definition, a row and an expert at a time."""
    out = torch.zeros_like(rows)
    for number, row in enumerate(rows):
        for expert, weight in zip(chosen[number], weights[number], strict=True):
            gate, up = F.linear(row, gate_up[expert]).chunk(2)
            out[number] += weight * F.linear(F.silu(gate) * up, down[expert])
    return out


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("kind", "tolerance"), [("fp8", 0.08), ("int4", 0.25)])
def test_experts_in_fewer_bits_say_nearly_what_they_said(
    kind: LowBit, tolerance: float, device: str
) -> None:
    random = torch.Generator().manual_seed(2)
    shapes = ((9, 64), (6, 2 * 32, 64), (6, 64, 32))
    rows, gate_up, down = (
        torch.randn(shape, generator=random).to(device, torch.bfloat16) for shape in shapes
    )
    gate_up, down = gate_up * 0.1, down * 0.1
    weights, chosen = torch.rand(9, 6, generator=random).to(device).topk(2)
    chosen = chosen.where(chosen != 4, 0)  # one that no row chose
    experts = LowBitExperts(
        LowBitMatrices(*low_bit(gate_up, kind)), LowBitMatrices(*low_bit(down, kind)), F.silu
    )
    out = experts(rows, chosen, weights)
    exact = exact_experts(*(each.double() for each in (rows, gate_up, down)), chosen, weights)
    assert out.dtype == torch.bfloat16
    assert off(out, exact) < tolerance


def test_experts_say_exactly_what_their_kept_numbers_say() -> None:
    """Sorting, grouping and coming back are exact: only the rounding of the matrices is not."""
    random = torch.Generator().manual_seed(3)
    rows = torch.randn(7, 64, generator=random)
    shapes = ((5, 32, 64), (5, 64, 16))
    packed = [low_bit(torch.randn(shape, generator=random), "int4") for shape in shapes]
    weights, chosen = torch.rand(7, 5, generator=random).topk(3)
    experts = LowBitExperts(*(LowBitMatrices(*each) for each in packed), F.silu)
    known = [from_int4(*each) for each in packed]
    exact = exact_experts(rows, *known, chosen, weights)
    assert off(experts(rows, chosen, weights), exact) < 1e-5
