"""Stack noisy canvases of several holes into padded tensors. Knows no model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from intarsia_research.training.uniform_canvas import CleanCanvas


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class UniformBatch:
    """One row a hole; the padding token fills up contexts and canvases."""

    context: Tensor  # (holes, context) long
    num_context: Tensor  # (holes,) long
    clean: Tensor  # (holes, length) long: x0
    noisy: Tensor  # (holes, length) long: xt
    num_ids: Tensor  # (holes,) long
    is_hole: Tensor  # (holes, length) bool
    is_needed: Tensor  # (holes, length) bool: the hole's tokens, and its end

    def to(self, device: torch.device) -> "UniformBatch":
        fields = {name: getattr(self, name).to(device) for name in self.__dataclass_fields__}
        return UniformBatch(**fields)


def batch_of(
    canvases: Sequence[CleanCanvas], noisy: Sequence[Sequence[int]], *, pad_id: int
) -> UniformBatch:
    """Stack canvases; ``noisy`` has the noised ids of each."""
    positions = torch.arange(max(len(canvas.ids) for canvas in canvases))
    starts, ends = _column(c.start for c in canvases), _column(c.end for c in canvases)
    needed = _column(c.start + c.num_needed for c in canvases)
    return UniformBatch(
        context=_padded([canvas.context for canvas in canvases], pad_id),
        num_context=torch.tensor([len(canvas.context) for canvas in canvases]),
        clean=_padded([canvas.ids for canvas in canvases], pad_id),
        noisy=_padded(noisy, pad_id),
        num_ids=torch.tensor([len(canvas.ids) for canvas in canvases]),
        is_hole=(positions >= starts) & (positions < ends),
        is_needed=(positions >= starts) & (positions < needed),
    )


def _column(numbers: Iterable[int]) -> Tensor:
    return torch.tensor(list(numbers))[:, None]


def _padded(rows: Sequence[Sequence[int]], pad_id: int) -> Tensor:
    length = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (length - len(row))] for row in rows])
