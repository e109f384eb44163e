"""Low-rank changes to each layer's matrices, as read from an adapter or tuning file."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import SCALE, LowRank
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LowRankLayer:
    """The four pairs of one layer, fused as the backbone's own matrices are."""

    qkv: LowRank
    o: LowRank
    gate_up: LowRank
    down: LowRank

    def parts(self) -> dict[str, LowRank]:
        """Return the pairs by the names of the matrices that they change."""
        return {"qkv": self.qkv, "o": self.o, "gate_up": self.gate_up, "down": self.down}


def part_sizes(shape: BackboneShape) -> dict[str, tuple[int, int]]:
    """Return how many numbers go into and come out of each part of a layer, by its file name."""
    heads = shape.num_heads * shape.head_dim
    return {
        "qkv": (shape.hidden, heads + 2 * shape.num_kv_heads * shape.head_dim),
        "o": (heads, shape.hidden),
        "gu": (shape.hidden, 2 * shape.intermediate),
        "d": (shape.intermediate, shape.hidden),
    }


def low_rank_layers(
    numbers: Mapping[str, Tensor], shape: BackboneShape, name: str
) -> tuple[LowRankLayer, ...]:
    """Return the pairs of all layers of the adapter that the user knows by this name. Raises
    ModelError where they are of another backbone."""
    sizes = part_sizes(shape)

    def pair(part: str, layer: int) -> LowRank:
        try:
            down, up = numbers[f"A.{part}{layer}"], numbers[f"B.{part}{layer}"]
        except KeyError as error:
            raise ModelError(
                f"the adapter {name} lacks the tensor {error}: it is of another backbone"
            ) from error
        into, out = sizes[part]
        rank = down.shape[0] if down.dim() else 0
        if (down.shape, up.shape) != ((rank, into), (out, rank)):
            raise ModelError(
                f"the adapter {name} is of another backbone: {part} of layer {layer} is "
                f"{tuple(up.shape)} by {tuple(down.shape)}, needed {into} in and {out} out"
            )
        return LowRank(down=down, up=up * SCALE)

    return tuple(
        LowRankLayer(qkv=pair("qkv", i), o=pair("o", i), gate_up=pair("gu", i), down=pair("d", i))
        for i in range(shape.num_layers)
    )
