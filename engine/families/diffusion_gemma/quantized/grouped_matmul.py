"""Grouped matrix products: each row is multiplied by one of several matrices, sorted by matrix."""

import torch
import torch.nn.functional as F
from torch import Tensor


def grouped_product(rows: Tensor, matrices: Tensor, ends: Tensor) -> Tensor:
    """Return (rows, out) of rows (rows, in) and matrices (groups, out, in).

    ``ends`` (groups,) int32 is the end row of each group; the last one is the number of rows. On a
    GPU this is one launch that waits for nothing. Without a torch kernel it is a product per group.
    """
    if _has_kernel(rows):
        product: Tensor = F.grouped_mm(rows, matrices.transpose(-2, -1), offs=ends)
        return product
    return product_by_product(rows, matrices, ends)


def product_by_product(rows: Tensor, matrices: Tensor, ends: Tensor) -> Tensor:
    """Return the same, one group after the other; waits for the device to copy ``ends``."""
    out = rows.new_empty(rows.shape[0], matrices.shape[1])
    start = 0
    for group, end in enumerate(ends.tolist()):
        if end > start:
            out[start:end] = F.linear(rows[start:end], matrices[group])
        start = end
    return out


def _has_kernel(rows: Tensor) -> bool:
    """Whether torch (2.10 or later) multiplies these rows: on a GPU, bfloat16 from Ampere on."""
    if not hasattr(F, "grouped_mm"):
        return False
    if rows.device.type == "cuda":
        return rows.dtype == torch.bfloat16 and torch.cuda.get_device_capability(rows.device) >= (
            8,
            0,
        )
    return rows.device.type == "cpu" and rows.dtype in (torch.bfloat16, torch.float32)
