"""Load the weights of a folder by a class of transformers, which takes seconds to import."""

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers.utils.logging import disable_progress_bar

from intarsia.engine.errors import ModelError

# Of a config that says nonsense: a library raises whatever the nonsense leads to.
_FAULTS = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    *(RuntimeError, SafetensorError),
)


def load_pretrained(model_class: Any, folder: Path, dtype: torch.dtype, **options: Any) -> Any:
    """Load a folder by a class of transformers: safetensors only, no code of it, no network.

    Raises ModelError.
    """
    disable_progress_bar()  # the engine's stderr is a log
    try:
        model, report = model_class.from_pretrained(
            folder,
            dtype=dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            **options,
        )
    except _FAULTS as fault:
        reason = " ".join(str(fault).split())
        raise ModelError(f"{folder} cannot be loaded by transformers: {reason}") from fault
    if missing := sorted(report["missing_keys"]):
        raise ModelError(
            f"{folder} lacks {len(missing)} tensors ({missing[0]} …): fetch the model again"
        )
    return model.eval()
