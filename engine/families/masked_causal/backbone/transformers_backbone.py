"""A causal backbone that transformers computes, for shapes that our own passes do not.

StarCoder2, Gemma, Granite and mixtures of experts run this way. Contexts are kept, shortened and
shared as with our own passes, because keys and values are in our KV cache. There is no drafter,
so a hole is written one token a pass, and no format but that of the weights.
"""

from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from torch import Tensor
from transformers.utils.logging import disable_progress_bar

from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import free_bytes, name_of, synchronize
from intarsia.engine.families.masked_causal.backbone.interface import (
    CausalBackbone,
    LoadedBackbone,
    Rows,
)
from intarsia.engine.families.masked_causal.backbone.kv_cache import KvCache
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.weights import Embeddings
from intarsia.engine.families.memory import require_memory
from intarsia.engine.model_store.locate import ModelFolder

_CHUNK_TOKENS = 256


class TransformersBackbone(CausalBackbone):
    """A ``…ForCausalLM`` of transformers; ``model`` attends by a mask that it is given."""

    def __init__(self, shape: BackboneShape, model: Any) -> None:
        embeddings = Embeddings(
            embed=model.get_input_embeddings().weight,
            output=model.get_output_embeddings().weight,
        )
        super().__init__(shape, embeddings)
        self.dtype: torch.dtype = model.dtype
        self.device: torch.device = model.device
        self._model = model

    @property
    def chunk_tokens(self) -> int:
        return _CHUNK_TOKENS

    def new_cache(self) -> KvCache:
        return KvCache(self.shape, partial(torch.empty, dtype=self.dtype, device=self.device))

    @torch.inference_mode()
    def forward(self, rows: Rows, cache: KvCache) -> Tensor:
        cache.reserve(len(rows.ids))
        output = self._model.model(
            input_ids=torch.from_numpy(rows.ids).to(self.device)[None],
            attention_mask=self._masks(rows, cache),
            position_ids=self._positions(rows)[None],
            past_key_values=_CacheOfOnePass(cache),
            use_cache=True,
        )
        hidden: Tensor = output.last_hidden_state[0, rows.first_hidden :]
        return hidden

    def synchronize(self) -> None:
        synchronize(self.device)

    @torch.inference_mode()
    def logits(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self._model.get_output_embeddings()(hidden)
        return logits / getattr(self._model.config, "logits_scaling", 1.0)  # Granite

    def _masks(self, rows: Rows, cache: KvCache) -> Tensor | dict[str, Tensor]:
        """Return what is added to scores (1, 1, rows, context + rows), for each kind of layer."""
        config = self._model.config
        window = getattr(config, "sliding_window", None)
        visible = torch.from_numpy(rows.visible).to(self.device)
        if hasattr(config, "layer_types"):
            near = visible if window is None else self._near(visible, rows, cache, window)
            masks = {"full_attention": visible, "sliding_attention": near}
            return {kind: self._additive(mask) for kind, mask in masks.items()}
        return self._additive(
            visible if window is None else self._near(visible, rows, cache, window)
        )

    def _near(self, visible: Tensor, rows: Rows, cache: KvCache, window: int) -> Tensor:
        """Return what each row attends to within the last ``window`` positions, its own included"""
        context = torch.arange(len(cache), device=self.device)
        positions = self._positions(rows)
        keys = torch.cat([context, positions])
        return visible & (positions[:, None] - keys < window)

    def _positions(self, rows: Rows) -> Tensor:
        return torch.from_numpy(rows.positions).to(self.device)

    def _additive(self, visible: Tensor) -> Tensor:
        bias = torch.zeros(visible.shape, dtype=self.dtype, device=self.device)
        return bias.masked_fill_(~visible, -torch.inf)[None, None]


class _CacheOfOnePass:
    """Our KV cache with the two methods of transformers' own that a pass calls."""

    def __init__(self, cache: KvCache) -> None:
        self._cache = cache

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Write one layer's rows; return the layer's keys and values, those of the context too."""
        keys, values = self._cache.write(layer_idx, key_states[0], value_states[0])
        return keys[None], values[None]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return len(self._cache)


def load_transformers_backbone(
    folder: ModelFolder,
    shape: BackboneShape,
    dtype: torch.dtype,
    device: torch.device,
    *,
    drafter: Path | None,
) -> LoadedBackbone:
    """Raises ModelError for options that such a shape does not have."""
    _require_plain(folder, drafter)
    stored = sum(path.stat().st_size for path in folder.weights)  # 16 bits a number
    num_bytes = 2 * stored if dtype == torch.float32 else stored
    require_memory(num_bytes, free_bytes(device), folder.name)
    model = _load_pretrained(folder.path, dtype).to(device)
    name = f"{name_of(dtype)}, transformers {transformers.__version__}"
    return LoadedBackbone(
        backbone=TransformersBackbone(shape, model), device=str(device), format_name=name
    )


def _require_plain(folder: ModelFolder, drafter: Path | None) -> None:
    reason = None
    if folder.tunings:
        reason = "a tuning is for the shapes of Llama and Qwen: merge it before with other tools"
    elif drafter is not None:
        reason = "a drafter is for the shapes of Llama and Qwen: leave `--drafter` out"
    if reason is not None:
        raise ModelError(f"{folder.name} is computed by transformers; {reason}")


# Of a config that says nonsense: a library raises whatever the nonsense leads to.
_FAULTS = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(RuntimeError, SafetensorError),
)


def _load_pretrained(folder: Path, dtype: torch.dtype) -> Any:
    """Load a folder by its class of transformers: safetensors only, no code of it, no network.

    Raises ModelError.
    """
    disable_progress_bar()  # the engine's stderr is a log
    try:
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            attn_implementation="sdpa",
        )
    except _FAULTS as fault:
        reason = " ".join(str(fault).split())
        raise ModelError(f"{folder} cannot be loaded by transformers: {reason}") from fault
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{folder} lacks {len(missing)} tensors ({missing[0]} …): fetch the model again"
        )
    return model.eval()
