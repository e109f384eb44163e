"""A causal backbone as training needs it: what the user calls a model → weights, text, ids."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from intarsia.engine.config import Device, Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_device, choose_dtype
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by, tune
from intarsia.engine.families.masked_causal.backbone.weights import read_weights
from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer, read_fim_tokenizer
from intarsia.engine.model_store.locate import locate_model
from intarsia.research.training.batched_backbone import BatchedBackbone


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingBackbone:
    """``adapter``: the one that is bundled with the model, if there is one."""

    name: str
    backbone: BatchedBackbone
    text: FimTokenizer
    adapter: Path | None


def load_backbone(
    model: str,
    on_progress: Callable[[str, float | None], None],
    *,
    device: Device = "auto",
    dtype: Dtype = "auto",
    tuning: Path | None = None,
) -> TrainingBackbone:
    """Load a model of the masked causal family, with a tuning if one is named. Raises
    ModelError."""
    folder = locate_model(model, on_progress, rows_tuned_by=rows_tuned_by)
    if folder.family != "masked_causal":
        raise ModelError(f"{folder.name} is no causal backbone: it trains by another objective")
    on_device = choose_device(device)
    shape, text = read_shape(folder.config), read_fim_tokenizer(folder.path)
    weights = read_weights(
        folder.weights,
        shape,
        is_fused=folder.is_fused,
        dtype=choose_dtype(dtype, on_device),
        device=on_device,
    )
    for path in (*folder.tunings, *([tuning] if tuning else [])):
        weights = tune(weights, shape, path)
    backbone = BatchedBackbone(shape, weights, mask_id=text.mask_id)
    return TrainingBackbone(name=folder.name, backbone=backbone, text=text, adapter=folder.adapter)
