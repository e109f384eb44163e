"""A causal backbone that torch runs, on any device and in any number format."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import Tensor

from intarsia.engine.arrays import Array
from intarsia.engine.config import Device, Dtype
from intarsia.engine.families.device import (
    choose_device,
    choose_dtype,
    free_bytes,
    name_of,
    synchronize,
)
from intarsia.engine.families.masked_causal.backbone.drafter import (
    Drafter,
    Drafting,
    read_drafter,
)
from intarsia.engine.families.masked_causal.backbone.interface import (
    CausalBackbone,
    LoadedBackbone,
    Rows,
)
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.rotary import (
    inverse_frequencies,
    rotate,
    rotation,
)
from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.tuning import tune
from intarsia.engine.families.masked_causal.backbone.weights import (
    BackboneWeights,
    LayerWeights,
    Tensors,
    read_weights,
)
from intarsia.engine.families.memory import require_memory
from intarsia.engine.model_store.checkpoint import is_run_by_transformers
from intarsia.engine.model_store.locate import ModelFolder

# On a CPU 256 tokens cost 5 % more time than 512, and 128 cost 22 % more (1,900 tokens).
_CHUNK = 512
_CPU_CHUNK = 256


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Pass:
    """The values that all layers of one pass share."""

    cache: KvCache
    bias: Tensor  # (query heads per key-value head · rows, context + rows): -inf where masked
    cosine: Tensor  # (rows, head_dim / 2)
    sine: Tensor  # (rows, head_dim / 2)


class TorchBackbone(CausalBackbone):
    """A backbone's weights, and a pass over them in torch."""

    def __init__(
        self,
        shape: BackboneShape,
        weights: BackboneWeights,
        *,
        drafter: Drafter | None = None,
    ) -> None:
        super().__init__(shape, weights.embeddings)
        self.dtype: torch.dtype = weights.norm.dtype
        self.device: torch.device = weights.norm.device
        self._weights = weights
        self._frequencies = inverse_frequencies(shape)
        if drafter is not None:
            self.drafting = Drafting(
                drafter, weights.embeddings, shape, _DraftProducts(self, drafter)
            )

    @property
    def chunk_tokens(self) -> int:
        return _CPU_CHUNK if self.device.type == "cpu" else _CHUNK

    def new_cache(self) -> KvCache:
        empty = partial(torch.empty, dtype=self.dtype, device=self.device)
        return KvCache(self.shape, empty, num_draft_layers=self.num_draft_layers)

    def synchronize(self) -> None:
        synchronize(self.device)

    @torch.inference_mode()
    def forward(self, rows: Rows, cache: KvCache) -> Tensor:
        cache.reserve(len(rows.ids))
        states: list[Tensor] = []
        x = F.embedding(torch.from_numpy(rows.ids).to(self.device), self.embeddings.embed)
        shared = self._shared(rows, cache)
        for i, layer in enumerate(self._weights.layers):
            if self.drafting is not None and i in self.drafting.taps:
                states.append(x)
            x = self._run_layer(x, i, layer, shared)
        if self.drafting is not None:
            self.drafting.read(torch.stack(states, dim=1), rows.positions, cache)
        return self._norm(x[rows.first_hidden :], self._weights.norm)

    def run_draft(
        self, x: Tensor, layers: Sequence[LayerWeights], norm: Tensor, cache: KvCache
    ) -> Tensor:
        """Run a drafter's layers over a causal block (rows, hidden); return hidden states."""
        cache.reserve(len(x))
        rows = frozen_rows([0] * len(x), start=len(cache))
        shared = self._shared(rows, cache)
        for i, layer in enumerate(layers, start=self.shape.num_layers):
            x = self._run_layer(x, i, layer, shared)
        return self._norm(x, norm)

    def _run_layer(self, x: Tensor, i: int, layer: LayerWeights, shared: _Pass) -> Tensor:
        x = x + self._attend(x, i, layer, shared)
        return x + self._feed_forward(x, layer)

    def _shared(self, rows: Rows, cache: KvCache) -> _Pass:
        cosine, sine = (
            torch.from_numpy(each).to(self.device, self.dtype)
            for each in rotation(rows.positions, self._frequencies)
        )
        bias = torch.zeros(rows.visible.shape, dtype=self.dtype, device=self.device)
        is_hidden = ~torch.from_numpy(rows.visible).to(self.device)
        bias = bias.masked_fill_(is_hidden, -torch.inf).repeat(self.shape.num_groups, 1)
        return _Pass(cache=cache, bias=bias, cosine=cosine, sine=sine)

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self._weights.output)

    def _attend(self, x: Tensor, i: int, layer: LayerWeights, shared: _Pass) -> Tensor:
        """Return what the attention of layer ``i`` adds to x (rows, hidden)."""
        shape, num_rows = self.shape, x.shape[0]
        qkv = F.linear(self._norm(x, layer.attn_norm), layer.qkv, layer.qkv_bias)
        heads = qkv.view(num_rows, -1, shape.head_dim).transpose(0, 1)  # (heads, rows, head_dim)
        q, k, v = torch.split(heads, [shape.num_heads, shape.num_kv_heads, shape.num_kv_heads])
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = self._norm(q, layer.q_norm), self._norm(k, layer.k_norm)
        cosine, sine = shared.cosine, shared.sine
        keys, values = shared.cache.write(i, rotate(k, cosine, sine), v)
        # A group's query heads become rows of one head, so that the keys are read once for all.
        q = rotate(q, cosine, sine).reshape(1, shape.num_kv_heads, shape.num_groups * num_rows, -1)
        mixed = F.scaled_dot_product_attention(q, keys[None], values[None], attn_mask=shared.bias)
        mixed = mixed.reshape(shape.num_heads, num_rows, -1).transpose(0, 1).reshape(num_rows, -1)
        return F.linear(mixed, layer.o)

    def _feed_forward(self, x: Tensor, layer: LayerWeights) -> Tensor:
        gate, up = F.linear(self._norm(x, layer.mlp_norm), layer.gate_up).chunk(2, dim=-1)
        return F.linear(F.silu(gate) * up, layer.down)

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.shape.norm_eps)


class _DraftProducts:
    """A drafter's products in torch."""

    def __init__(self, backbone: TorchBackbone, drafter: Drafter) -> None:
        self._backbone = backbone
        self._drafter = drafter
        self._output = backbone.embeddings.output[drafter.vocabulary]

    def read(self, states: Tensor) -> Tensor:
        read: Tensor = self._drafter.read(states)
        return read

    def run(self, x: Tensor, cache: KvCache) -> Tensor:
        return self._backbone.run_draft(x, self._drafter.layers, self._drafter.norm, cache)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self._output)


def read_torch_weights(
    files: Sequence[Path],
    shape: BackboneShape,
    *,
    is_fused: bool,
    dtype: torch.dtype,
    device: torch.device,
) -> BackboneWeights:
    """Read the weights as torch's tensors. Raises ModelError, as ``read_weights`` does."""

    def open_files(files: Sequence[Path]) -> Tensors:
        tensors: dict[str, Callable[[], Tensor]] = {}
        for path in files:
            file: Any = safe_open(path, framework="pt")
            tensors |= {name: partial(read, file, name) for name in file.keys()}  # noqa: SIM118
        return tensors

    def read(file: Any, name: str) -> Tensor:
        tensor: Tensor = file.get_tensor(name).to(device, dtype)
        return tensor

    return read_weights(files, shape, is_fused=is_fused, open_files=open_files)


def device_for(requested: Device) -> str:
    """Return what ``auto`` is here. Raises ModelError for a device that cannot be used."""
    return choose_device(requested).type


def load_with_torch(
    folder: ModelFolder,
    shape: BackboneShape,
    configured: Dtype,
    requested: Device,
    *,
    drafter: Path | None = None,
) -> LoadedBackbone:
    """Read and tune a backbone; a shape that our passes do not compute runs in transformers.

    Raises ModelError.
    """
    device = choose_device(requested)
    dtype = choose_dtype(configured, device)
    if is_run_by_transformers(folder.config):
        # it takes seconds to import: only where it is used
        from intarsia.engine.families.masked_causal.backbone.transformers_backbone import (
            load_transformers_backbone,
        )

        return load_transformers_backbone(folder, shape, dtype, device, drafter=drafter)
    stored = sum(path.stat().st_size for path in folder.weights)  # 16 bits a number
    is_mapped = folder.is_fused and device.type == "cpu" and dtype == torch.bfloat16
    if not is_mapped or folder.tunings:
        num_bytes = 2 * stored if dtype == torch.float32 else stored
        require_memory(num_bytes, free_bytes(device), folder.name)
    weights = read_torch_weights(
        folder.weights, shape, is_fused=folder.is_fused, dtype=dtype, device=device
    )
    for tuning in folder.tunings:
        weights = tune(weights, shape, tuning)

    def convert(numbers: Array) -> Tensor:
        return torch.tensor(numbers, dtype=dtype, device=device)

    read = None if drafter is None else read_drafter(drafter, shape, convert)
    backbone = TorchBackbone(shape, weights, drafter=read)
    return LoadedBackbone(backbone=backbone, device=str(device), format_name=name_of(dtype))
