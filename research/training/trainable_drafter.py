"""The drafter as a trainable module; ``backbone/drafter.py`` reads the file it ends in."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from intarsia.engine.families.masked_causal.backbone.drafter import (
    LAYER_PARTS,
    SCALE_SUFFIX,
    Drafter,
    drafter_of,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import BackboneWeights
from intarsia_research.training.low_rank_modules import random_matrix
from intarsia_research.training.run_folder import write_tensors

HEAD_RANK = 256
_MAX_INT8 = 127


class TrainableDrafter(nn.Module):
    """A drafter whose layers begin as the backbone's last ones; its head begins as no change."""

    def __init__(
        self,
        shape: BackboneShape,
        weights: BackboneWeights,
        vocabulary: Tensor,
        *,
        num_layers: int,
        num_rows: int,
        taps: tuple[int, ...],
        seed: int,
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        kv = 2 * shape.num_kv_heads * shape.head_dim
        self._shape, self._taps, self._vocabulary = shape, taps, vocabulary
        self.matrices = nn.ParameterDict()
        last = weights.layers[shape.num_layers - num_layers :]
        for i, layer in enumerate(last):
            for part in LAYER_PARTS:
                own = getattr(layer, part).detach().float().cpu().clone()
                self.matrices[f"{i}_{part}"] = nn.Parameter(own)
        self.matrices["context"] = random_matrix(
            num_layers * kv, len(taps) * shape.hidden, generator
        )
        self.matrices["anchor"] = nn.Parameter(torch.eye(shape.hidden))
        masks = 0.5 * torch.randn(num_rows, shape.hidden, generator=generator)
        self.matrices["masks"] = nn.Parameter(masks)
        self.matrices["norm"] = nn.Parameter(weights.norm.detach().float().cpu().clone())
        self.matrices["head_down"] = random_matrix(HEAD_RANK, 2 * shape.hidden, generator)
        self.matrices["head_up"] = nn.Parameter(torch.zeros(shape.hidden, HEAD_RANK))

    def named_tensors(self) -> dict[str, Tensor]:
        """Return all tensors by their names in the file."""
        named = {
            name.replace("_", ".", 1) if name[0].isdigit() or name.startswith("head") else name: t
            for name, t in self.matrices.items()
        }
        return {**named, "vocabulary": self._vocabulary}

    def as_drafter(self, dtype: torch.dtype, device: torch.device) -> Drafter:
        """Return the engine's drafter in a number format; gradients flow back."""
        return drafter_of(
            self.named_tensors(),
            self._taps,
            shape=self._shape,
            convert=lambda numbers: numbers.to(device, dtype),
        )

    def save(self, path: Path, *, metadata: Mapping[str, str]) -> None:
        """Write the matrices in int8, each row with its scale, and all else in bfloat16."""
        stored: dict[str, Tensor] = {}
        for name, tensor in self.named_tensors().items():
            plain = tensor.detach().cpu()
            if name == "vocabulary":
                stored[name] = plain.int()
            elif plain.dim() == 2 and name != "masks":
                scale = plain.abs().amax(dim=1).clamp(min=1e-9) / _MAX_INT8
                stored[name] = (plain / scale[:, None]).round().to(torch.int8)
                stored[name + SCALE_SUFFIX] = scale
            else:
                stored[name] = plain.to(torch.bfloat16)
        taps = ",".join(map(str, self._taps))
        write_tensors(stored, path, {**metadata, "taps": taps})
