"""Products with matrices of four bits, in Triton: each byte is read once and unpacked on the chip.

Unpacked in memory, a four-bit number costs more to read than a 16-bit one. Needs Triton, which
comes with torch for NVIDIA cards; without it, ``quantize.py`` unpacks in memory.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

_COLUMNS = 64  # of the product, per program


@triton.jit  # type: ignore[untyped-decorator]
def _unpacked(codes, is_nvfp4: tl.constexpr):  # type: ignore[no-untyped-def]
    """Return the numbers of four bits: whole ones from -8, or E2M1."""
    if is_nvfp4:
        size = (codes & 7).to(tl.float32)
        large = tl.where(size < 6, size - 2, 2 * size - 8)
        size = tl.where(size < 4, size / 2, large)
        return tl.where(codes < 8, size, -size)
    return codes.to(tl.float32) - 8.0


@triton.jit  # type: ignore[untyped-decorator]
def _product(  # type: ignore[no-untyped-def]
    rows,  # (rows, n)
    packed,  # (groups, out, n / 2) bytes
    scale,  # (groups, out, n / size), of NVFP4 twice as many
    row_scale,  # (groups, out), of NVFP4 alone
    ends,  # (groups,) end row of each
    out,  # (rows, out)
    num_out,
    n,
    size: tl.constexpr,  # numbers whose halves share bytes
    is_nvfp4: tl.constexpr,
    num_rows: tl.constexpr,
    num_columns: tl.constexpr,
):
    half_size: tl.constexpr = size // 2
    group = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * num_columns + tl.arange(0, num_columns)
    is_column = column < num_out
    matrix_row = group * num_out + column
    half = tl.arange(0, half_size)
    bytes_at = packed + matrix_row[:, None] * (n // 2) + half[None, :]
    num_scales: tl.constexpr = 2 if is_nvfp4 else 1  # in ``size`` numbers
    scale_at = scale + matrix_row * (n // size * num_scales)
    end = tl.load(ends + group)
    begin = tl.load(ends + group - 1, mask=group > 0, other=0)
    first = begin + tl.program_id(2) * num_rows
    for tile in range(first, end, num_rows * tl.num_programs(2)):
        row = tile + tl.arange(0, num_rows).to(tl.int64)
        is_row = row < end
        rows_at = rows + row[:, None] * n + half[None, :]
        total = tl.zeros((num_rows, num_columns), dtype=tl.float32)
        for part in range(0, n // size):
            both = tl.load(bytes_at + part * half_size, mask=is_column[:, None], other=136)
            here = tl.load(rows_at + part * size, mask=is_row[:, None], other=0.0)
            there = tl.load(rows_at + part * size + half_size, mask=is_row[:, None], other=0.0)
            lower = _unpacked(both & 15, is_nvfp4).to(here.dtype)
            upper = _unpacked(both >> 4, is_nvfp4).to(here.dtype)
            step_at = scale_at + part * num_scales
            steps = tl.load(step_at, mask=is_column, other=0.0).to(tl.float32)
            if is_nvfp4:
                upper_steps = tl.load(step_at + 1, mask=is_column, other=0.0).to(tl.float32)
                total += tl.dot(here, tl.trans(lower)) * steps[None, :]
                total += tl.dot(there, tl.trans(upper)) * upper_steps[None, :]
            else:
                sums = tl.dot(here, tl.trans(lower)) + tl.dot(there, tl.trans(upper))
                total += sums * steps[None, :]
        if is_nvfp4:
            total *= tl.load(row_scale + matrix_row, mask=is_column, other=0.0)[None, :]
        tl.store(
            out + row[:, None] * num_out + column[None, :],
            total.to(out.dtype.element_ty),
            mask=is_row[:, None] & is_column[None, :],
        )


def packed_product(
    rows: Tensor, packed: Tensor, scale: Tensor, row_scale: Tensor | None, ends: Tensor
) -> Tensor:
    """Return (rows, out) of sorted rows (rows, n) with matrices in int4, or with scales of their
    rows in NVFP4 (``quantize.LowBitNumbers``).

    The launch depends on shapes only: nothing waits for ``ends``.
    """
    num_rows, n = rows.shape
    num_groups, num_out, num_parts = scale.shape
    tile = next((size for size in (16, 32) if num_rows <= size * num_groups), 64)
    num_tiles = -(-num_rows // tile) if num_groups == 1 else 1
    out = torch.empty(num_rows, num_out, dtype=rows.dtype, device=rows.device)
    _product[(num_groups, -(-num_out // _COLUMNS), num_tiles)](
        rows.contiguous(),
        packed,
        scale,
        scale if row_scale is None else row_scale,
        ends,
        out,
        num_out,
        n,
        size=(1 if row_scale is None else 2) * n // num_parts,
        is_nvfp4=row_scale is not None,
        num_rows=tile,
        num_columns=_COLUMNS,
        num_warps=4,
        num_stages=4,
    )
    return out
