"""Load a causal model of another shape than ours, to be computed by transformers.

Safetensors only, no code of the folder, no network.
"""

from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError

from intarsia.engine.config import Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_dtype, require_memory
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.families.masked_causal.backbone.transformers_backbone import (
    TransformersBackbone,
)
from intarsia.engine.model_store.locate import ModelFolder

# Of a config that says nonsense: a library raises whatever the nonsense leads to.
_FAULTS = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(RuntimeError, SafetensorError),
)


def load_transformers_backbone(
    folder: ModelFolder,
    shape: BackboneShape,
    configured: Dtype,
    device: torch.device,
    *,
    adapter: Path | None,
    mask_id: int,
) -> tuple[TransformersBackbone, str]:
    """Return the backbone, and the name of its number format for the user.

    Raises ModelError where something is missing, too large, or not for such a model.
    """
    _require_plain(folder, configured, adapter)
    dtype = choose_dtype(configured, device)
    stored = sum(path.stat().st_size for path in folder.weights)  # 16 bits a number
    require_memory(2 * stored if dtype == torch.float32 else stored, device, folder.name)
    model = _load(folder, dtype).to(device)
    name = f"{str(dtype).removeprefix('torch.')}, transformers {transformers.__version__}"
    return TransformersBackbone(shape, model, mask_id=mask_id), name


def _require_plain(folder: ModelFolder, configured: Dtype, adapter: Path | None) -> None:
    reason = None
    if configured == "int8":
        reason = "int8 is for the shapes of Llama and Qwen: leave `--dtype` out"
    elif folder.tunings:
        reason = "a tuning is for the shapes of Llama and Qwen: merge it before with other tools"
    elif adapter is not None:
        reason = "an adapter is for the shapes of Llama and Qwen: leave `--adapter` out"
    if reason is not None:
        raise ModelError(f"{folder.name} is computed by transformers; {reason}")


def _load(folder: ModelFolder, dtype: torch.dtype) -> Any:
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # the engine's stderr is a log
    try:
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            folder.path,
            dtype=dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            attn_implementation="sdpa",
            output_loading_info=True,
        )
    except _FAULTS as fault:
        reason = " ".join(str(fault).split())
        raise ModelError(f"{folder.path} cannot be loaded by transformers: {reason}") from fault
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{folder.path} lacks {len(missing)} tensors ({missing[0]} …): fetch the model again"
        )
    return model.eval()
