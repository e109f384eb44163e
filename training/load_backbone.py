"""Load a causal backbone for training, by the model name that a user gives."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from intarsia.engine.config import Device, Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_device, choose_dtype
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by, tune
from intarsia.engine.families.masked_causal.backbone.weights import read_weights
from intarsia.engine.families.masked_causal.tokens.fim_tokenizer import (
    FimTokenizer,
    read_fim_tokenizer,
)
from intarsia.engine.model_store.family import is_run_by_transformers
from intarsia.engine.model_store.locate import locate_model
from intarsia.training.batched_backbone import BatchedBackbone

ReportProgress: TypeAlias = Callable[[str, float | None], None]
"""Gets a line for the user, and the share that is done; None: unknown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingBackbone:
    """A loaded model: its display name, weights and tokenizer."""

    name: str
    backbone: BatchedBackbone
    tokenizer: FimTokenizer


def load_backbone(
    model: str,
    on_progress: ReportProgress,
    *,
    device: Device = "auto",
    dtype: Dtype = "auto",
    tuning: Path | None = None,
) -> TrainingBackbone:
    """Load a model of the masked causal family, with the tunings its name and ``tuning`` give.

    Raises ModelError.
    """
    folder = locate_model(model, on_progress, rows_tuned_by=rows_tuned_by)
    if folder.family != "masked_causal":
        raise ModelError(f"{folder.name} is not a causal backbone: its training differs")
    if is_run_by_transformers(folder.config):
        raise ModelError(f"{folder.name} cannot be trained: only Llama's and Qwen's shapes can")
    on_device = choose_device(device)
    shape, tokenizer = read_shape(folder.config), read_fim_tokenizer(folder.path)
    if tokenizer.is_suffix_first:
        raise ModelError(f"{folder.name} cannot be trained: its prompts begin with the suffix")
    weights = read_weights(
        folder.weights,
        shape,
        is_fused=folder.is_fused,
        dtype=choose_dtype(dtype, on_device),
        device=on_device,
    )
    for path in (*folder.tunings, *([tuning] if tuning else [])):
        weights = tune(weights, shape, path)
    backbone = BatchedBackbone(shape, weights, mask_id=tokenizer.mask_id)
    return TrainingBackbone(name=folder.name, backbone=backbone, tokenizer=tokenizer)
