"""The Triton product says what unfolded numbers say. Without a card: `TRITON_INTERPRET=1`."""

import os

import pytest
import torch

from intarsia.engine.families.diffusion_gemma.quantize import (
    FLOAT8,
    from_int4,
    from_nvfp4,
    pack_nvfp4,
    product_by_product,
    to_int4,
)

pytestmark = pytest.mark.gpu
pytest.importorskip("triton", reason="Triton comes with torch for NVIDIA cards")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("needs an NVIDIA card, or TRITON_INTERPRET=1", allow_module_level=True)

# Triton's interpreter multiplies bfloat16 as if it were whole numbers
SIXTEEN_BITS = torch.bfloat16 if DEVICE == "cuda" else torch.float16


@pytest.mark.parametrize(
    ("ends", "n", "num_out"),
    [
        ([3, 3, 7, 10], 128, 80),  # a group of none, columns that fill no tile
        ([0, 40, 41, 90], 64, 64),  # several tiles of rows
        ([0, 0, 0, 5], 32, 16),  # scales of 32
        ([70], 192, 96),  # one matrix
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, SIXTEEN_BITS])
def test_each_row_is_multiplied_with_its_own_matrix(ends, n, num_out, dtype):
    from intarsia.engine.families.diffusion_gemma.int4_matmul import packed_product

    random = torch.Generator().manual_seed(n)
    rows = torch.randn(ends[-1], n, generator=random).to(DEVICE, dtype)
    matrices = torch.randn(len(ends), num_out, n, generator=random).to(DEVICE, dtype)
    packed, scale = to_int4(matrices)
    group_ends = torch.tensor(ends, dtype=torch.int32, device=DEVICE)
    known = from_int4(packed, scale).double()
    exact = product_by_product(rows.double(), known.__getitem__, group_ends)
    found = packed_product(rows, packed, scale, None, group_ends).double()
    tolerance = 2e-3 if dtype == torch.float32 else 1e-2
    assert (found - exact).norm() / exact.norm() < tolerance
    codes = torch.randint(0, 16, matrices.shape, generator=random).to(DEVICE, torch.uint8)
    scales = torch.rand(*matrices.shape[:-1], n // 16, generator=random).to(DEVICE, FLOAT8)
    factors = torch.rand(matrices.shape[:-1], generator=random).to(DEVICE)
    packed = pack_nvfp4(codes)
    known = from_nvfp4(packed, scales, factors, torch.float64)
    exact = product_by_product(rows.double(), known.__getitem__, group_ends)
    found = packed_product(rows, packed, scales, factors, group_ends).double()
    assert (found - exact).norm() / exact.norm() < tolerance
