"""The LoRA pairs of every layer of a causal backbone, from an adapter or tuning file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import SCALE, LowRank
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape

PartName: TypeAlias = Literal["qkv", "o", "gate_up", "down"]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LowRankLayer:
    """The four pairs of one layer, for the same fused matrices as the backbone's."""

    qkv: LowRank
    o: LowRank
    gate_up: LowRank
    down: LowRank

    def parts(self) -> dict[PartName, LowRank]:
        """Return the pairs by the names of the matrices that they change."""
        return {"qkv": self.qkv, "o": self.o, "gate_up": self.gate_up, "down": self.down}


def part_sizes(shape: BackboneShape) -> dict[str, tuple[int, int]]:
    """Return the input and output size of each matrix of a layer, by its name in the file."""
    heads = shape.num_heads * shape.head_dim
    return {
        "qkv": (shape.hidden, heads + 2 * shape.num_kv_heads * shape.head_dim),
        "o": (heads, shape.hidden),
        "gu": (shape.hidden, 2 * shape.intermediate),
        "d": (shape.intermediate, shape.hidden),
    }


def low_rank_layers(
    tensors: Mapping[str, Tensor], shape: BackboneShape, name: str
) -> tuple[LowRankLayer, ...]:
    """Return the pairs of all layers from an adapter's tensors.

    ``name`` is the adapter's name in errors. Raises ModelError where the pairs do not fit.
    """
    sizes = part_sizes(shape)

    def pair(part: str, layer: int) -> LowRank:
        try:
            down, up = tensors[f"A.{part}{layer}"], tensors[f"B.{part}{layer}"]
        except KeyError as error:
            raise ModelError(
                f"the adapter {name} lacks the tensor {error}: it is of another backbone"
            ) from error
        num_in, num_out = sizes[part]
        rank = down.shape[0] if down.dim() else 0
        if (down.shape, up.shape) != ((rank, num_in), (num_out, rank)):
            raise ModelError(
                f"the adapter {name} is of another backbone: {part} of layer {layer} is "
                f"{tuple(up.shape)} by {tuple(down.shape)}, needed {num_in} in and {num_out} out"
            )
        return LowRank(down=down, up=up * SCALE)

    return tuple(
        LowRankLayer(qkv=pair("qkv", i), o=pair("o", i), gate_up=pair("gu", i), down=pair("d", i))
        for i in range(shape.num_layers)
    )
