"""Make a DiffusionGemma with random weights directly on the device, without any file."""

from typing import Any

import torch
from torch import Tensor, nn

from intarsia.engine.families.diffusion_gemma.load import leave_out_pictures


@torch.no_grad()
def random_gemma(config: Any, *, device: torch.device, dtype: torch.dtype, seed: int = 0) -> Any:
    """Return transformers' ``DiffusionGemmaForBlockDiffusion`` with weights drawn from the seed.

    Encoder and decoder share their weights, as in a released checkpoint. Raises MemoryError or
    torch.OutOfMemoryError.
    """
    model = on_meta(config, dtype)
    leave_out_pictures(model)
    _allocate(model, device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        for module in model.modules():
            model._init_weights(module)  # including buffers: the rotary frequencies
            if "layer_scalar" in dict(module.named_buffers(recurse=False)):
                # transformers does not initialise the encoder's
                module.get_buffer("layer_scalar").fill_(1)
    return model.eval()


def on_meta(config: Any, dtype: torch.dtype) -> Any:
    """Return the model without memory for its weights."""
    from transformers import DiffusionGemmaForBlockDiffusion

    previous = torch.get_default_dtype()
    torch.set_default_dtype(dtype)  # parameters with an explicit float32 keep it
    try:
        with torch.device("meta"):
            return DiffusionGemmaForBlockDiffusion(config)
    finally:
        torch.set_default_dtype(previous)


def _allocate(model: nn.Module, device: torch.device) -> None:
    """Allocate all weights. ``Module.to_empty`` would allocate tied weights twice."""
    allocated: dict[int, Tensor] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            if id(parameter) not in allocated:
                empty = torch.empty_like(parameter, device=device)
                allocated[id(parameter)] = nn.Parameter(empty, requires_grad=False)
            setattr(module, name, allocated[id(parameter)])
        for name, buffer in module.named_buffers(recurse=False):
            module.get_buffer(name)  # raises if the name is only a plain attribute
            setattr(module, name, torch.empty_like(buffer, device=device))
