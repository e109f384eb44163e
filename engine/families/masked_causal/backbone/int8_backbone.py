"""A causal backbone in int8, whose passes are compiled here (engine/kernels): tensors come in and
go out, arrays in between.

Rows do not meet in any product, so what a frozen row says does not depend on the rows beside it:
however a text is settled, it is the same to the bit. (A mask's place among the keys does change how
its own sums are rounded; it only proposes.)
"""

import numpy as np
import torch
from torch import Tensor

from intarsia.engine.families.masked_causal.backbone.int8_weights import ByteWeights
from intarsia.engine.families.masked_causal.backbone.interface import CausalBackbone, Rows
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rotary import inverse_frequencies, rotation
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.kernels import run_compiled
from intarsia.engine.kernels.forward import PHASES_A_LAYER, run_layers
from intarsia.engine.kernels.int8_matrix import AdaptedInt8, Floats
from intarsia.engine.kernels.matmul import empty_rows, multiply_rows
from intarsia.engine.kernels.microkernels import LANES, MOST_ROWS
from intarsia.engine.kernels.threads import Team

_CHUNK = 64  # tokens: of 256 each a context is read 3 % faster, and a cancel waits for 0.5 s


class ByteBackbone(CausalBackbone):
    """Weights, and the threads that run passes over them."""

    def __init__(
        self, shape: BackboneShape, weights: ByteWeights, *, mask_id: int, num_threads: int
    ) -> None:
        super().__init__(shape, weights.ends, mask_id=mask_id)
        self._weights = weights
        self._team = Team(num_threads)
        self._frequencies = inverse_frequencies(shape)

    @property
    def chunk_tokens(self) -> int:
        return _CHUNK

    def new_cache(self) -> KvCache:
        return KvCache(self.shape, dtype=torch.bfloat16, device=self.device, key_lanes=LANES)

    def prepare(self) -> None:
        """Compile the passes, or read what was compiled before."""
        one, sees = torch.zeros(1, dtype=torch.long), torch.ones(1, 1, dtype=torch.bool)
        rows = Rows(ids=one, positions=one, num_frozen=1, visible=sees)
        run_compiled(lambda: self.logits(self.forward(rows, self.new_cache())))

    def forward(self, rows: Rows, cache: KvCache) -> Tensor:
        shape, weights, num_rows = self.shape, self._weights, len(rows.ids)
        cache.reserve(num_rows)
        parts = (weights.qkv, weights.o, weights.gate_up, weights.down)
        cosine, sine = rotation(rows.positions, self._frequencies, torch.float32)
        hidden = np.empty((num_rows, shape.hidden), np.float32)

        def products(part: AdaptedInt8) -> Floats:
            return np.zeros((num_rows + MOST_ROWS, part.matrices.num_padded), np.float32)

        most_groups = max(part.matrices.num_groups for part in parts)
        self._team.run(
            run_layers,
            shape.num_layers * PHASES_A_LAYER + 1,
            (
                *(len(cache), rows.num_frozen, shape.num_heads, shape.num_kv_heads),
                *(shape.head_dim, shape.intermediate, np.float32(shape.norm_eps)),
            ),
            (rows.visible.numpy(), cosine.numpy(), sine.numpy()),
            (
                *(weights.attn_norms, weights.mlp_norms, weights.q_norms, weights.k_norms),
                weights.last_norm,
            ),
            *(part.laid_out() for part in parts),
            (_halves(cache.keys), _halves(cache.values)),
            (
                self._embed(rows).float().numpy(),
                hidden,
                *empty_rows(num_rows, most_groups),
                products(weights.qkv),
                np.empty((num_rows, shape.num_heads * shape.head_dim), np.float32),
                products(weights.o),
                products(weights.gate_up),
            ),
        )
        return torch.from_numpy(hidden)

    def logits(self, hidden: Tensor) -> Tensor:
        products = multiply_rows(self._weights.output, hidden.contiguous().numpy(), self._team)
        return torch.from_numpy(products)


def _halves(tensor: Tensor) -> object:
    return tensor.view(torch.uint16).numpy()
