"""A layer's experts in fewer bits; replaces transformers' ``DiffusionGemmaTextExperts``.

Each row goes through its chosen experts; the result is their weighted sum. All shapes depend on the
number of rows only, and nothing waits for the device, so a pass can be captured as a CUDA graph.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from intarsia.engine.families.diffusion_gemma.quantized.linear import LowBitMatrices


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
