"""LoRAs of PEFT on toy models: with random numbers, as a training would leave them."""

from pathlib import Path
from typing import Any

import peft
import torch
from safetensors.torch import save_file
from toy_causal import loaded
from transformers import AutoModelForCausalLM

from intarsia.engine.families.masked_causal.backbone.rows import frozen_rows
from intarsia.engine.families.masked_causal.backbone.shape import read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import NAMES_IN_FILE
from intarsia.engine.model_store.checkpoint import read_config

# PEFT adds the product of a LoRA to each row, we add it to the weights: float32 rounds differently.
CLOSE = {"atol": 2e-4, "rtol": 1e-4}
ALL_MODULES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
IDS = torch.randint(0, 250, (24,), generator=torch.Generator().manual_seed(5))


def save_tuning(path: Path, folder: Path, *, seed: int = 0, rank: int = 4) -> Path:
    """Write a random tuning for the model in a folder, in bfloat16, as training writes it."""
    shape = read_shape(read_config(folder))
    random = torch.Generator().manual_seed(seed)
    tensors = {}
    for i in range(shape.num_layers):
        for part, matrix in shape.matrices().items():
            for half, size in (("A", (rank, matrix.num_in)), ("B", (matrix.num_out, rank))):
                name = f"{half}.{NAMES_IN_FILE[part]}{i}"
                tensors[name] = torch.randn(size, generator=random) * 0.1
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.bfloat16() for name, tensor in tensors.items()}, path)
    return path


def save_lora(path: Path, folder: Path, *, seed: int = 0, **options: Any) -> Path:
    """Have PEFT write a LoRA for the model in a folder, with random numbers in both matrices."""
    settings: dict[str, Any] = {
        "r": 4,
        "lora_alpha": 6,
        "target_modules": list(ALL_MODULES),
        "task_type": "CAUSAL_LM",
    }
    model = peft.get_peft_model(plain_model(folder), peft.LoraConfig(**(settings | options)))
    random = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if "lora_" in name:
            parameter.data = torch.randn(parameter.shape, generator=random) * 0.1
    model.save_pretrained(path)
    return path


def plain_model(folder: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


@torch.inference_mode()
def peft_logits(folder: Path, lora: Path) -> torch.Tensor:
    """Return PEFT's logits (ids, vocab) of a model with a LoRA, which is not merged."""
    model = peft.PeftModel.from_pretrained(plain_model(folder), lora).eval()
    logits: torch.Tensor = model(IDS[None]).logits[0]
    return logits


@torch.inference_mode()
def plain_logits(folder: Path) -> torch.Tensor:
    logits: torch.Tensor = plain_model(folder)(IDS[None]).logits[0]
    return logits


@torch.inference_mode()
def our_logits(model: str) -> torch.Tensor:
    """Return the logits of ``IDS`` of a model with its tunings, loaded as the engine does."""
    backbone = loaded(model)
    rows = frozen_rows(IDS.tolist(), start=0)
    return backbone.logits(backbone.forward(rows, backbone.new_cache())).float()
