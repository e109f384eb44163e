"""Quantize DiffusionGemma's large matrices, layer by layer, on the device that will run them.

Experts, attention and dense layers are quantized. Router, embeddings, norms and self-conditioning
keep their format. Encoder and decoder share the new weights, as they shared the old ones.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.quantized.linear import (
    LowBit,
    LowBitMatrices,
    LowBitMatrix,
    has_float8,
    low_bit,
)


class LowBitExperts(nn.Module):
    """The experts: ``gate_up`` (experts, 2 · inner, hidden), ``down`` (experts, hidden, inner)."""

    def __init__(
        self,
        gate_up: LowBitMatrices,
        down: LowBitMatrices,
        activate: Callable[[Tensor], Tensor],
    ) -> None:
        super().__init__()
        self.gate_up = gate_up
        self.down = down
        self._activate = activate
        self._num_experts = gate_up.numbers.shape[0]

    def forward(self, rows: Tensor, chosen: Tensor, weights: Tensor) -> Tensor:
        """Return (rows, hidden) of rows (rows, hidden); ``chosen`` and ``weights`` (rows, k)."""
        num_chosen = chosen.shape[1]
        expert, order = chosen.flatten().sort()
        ends = torch.searchsorted(expert, self._numbers_of(expert), right=True).int()
        gate, up = self.gate_up(rows[order // num_chosen], ends).chunk(2, dim=-1)
        out = self.down(self._activate(gate) * up, ends)
        weighed = out * weights.flatten()[order, None]
        back = torch.empty_like(weighed)
        back[order] = weighed
        return back.view(*chosen.shape, -1).sum(dim=1).to(rows.dtype)

    def _numbers_of(self, expert: Tensor) -> Tensor:
        return torch.arange(self._num_experts, dtype=expert.dtype, device=expert.device)


def require_low_bit(kind: LowBit, device: torch.device) -> None:
    """Raise ModelError if the format cannot run on the device; call it before reading weights."""
    if kind == "fp8" and not has_float8(device):
        raise ModelError(
            f"fp8 needs an NVIDIA card of compute capability 9.0 or later (H100), not {device}: "
            "take `--quantize int4`, or leave it out"
        )


@torch.no_grad()
def quantize_gemma(model: Any, kind: LowBit, device: torch.device) -> None:
    """Replace the large matrices of a loaded model.

    Each is moved to the device, quantized and freed at once, so the device never holds the model in
    both formats. Raises MemoryError, torch.OutOfMemoryError.
    """
    decoder, encoder = model.model.decoder.layers, model.model.encoder.language_model.layers
    for twins in zip(decoder, encoder, strict=True):
        experts = _experts(twins[0].experts, kind, device)
        for layer in twins:
            layer.experts = experts
        for name in _matrices_of(twins[0]):
            linear = twins[0].get_submodule(name)
            matrix = LowBitMatrix(*low_bit(linear.weight.to(device), kind))
            for layer in twins:
                layer.set_submodule(name, matrix)


def _experts(experts: Any, kind: LowBit, device: torch.device) -> LowBitExperts:
    return LowBitExperts(
        LowBitMatrices(*_one_by_one(experts.gate_up_proj, kind, device)),
        LowBitMatrices(*_one_by_one(experts.down_proj, kind, device)),
        experts.act_fn,
    )


def _one_by_one(matrices: Tensor, kind: LowBit, device: torch.device) -> tuple[Tensor, Tensor]:
    """Quantize one expert at a time, as rounding needs its float32 copy."""
    numbers, scales = zip(*(low_bit(matrix.to(device), kind) for matrix in matrices), strict=True)
    return torch.stack(numbers), torch.stack(scales)


def _matrices_of(layer: nn.Module) -> list[str]:
    """Return the paths of a layer's own matrices, except those of the router."""
    linears = (name for name, part in layer.named_modules() if isinstance(part, nn.Linear))
    return [name for name in linears if not name.startswith("router.")]
