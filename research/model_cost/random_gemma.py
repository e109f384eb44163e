"""A DiffusionGemma of random numbers, made on the device itself: no file is needed."""

from typing import Any

import torch
from torch import Tensor, nn

from intarsia.engine.families.diffusion_gemma.load import leave_out_pictures


@torch.no_grad()
def random_gemma(config: Any, *, device: torch.device, dtype: torch.dtype, seed: int = 0) -> Any:
    """Return transformers' ``DiffusionGemmaForBlockDiffusion`` with numbers that follow the seed.

    Encoder and decoder share their weights, as in a released checkpoint. Raises MemoryError,
    torch.OutOfMemoryError.
    """
    model = on_meta(config, dtype)
    leave_out_pictures(model)
    _make_room(model, device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        for module in model.modules():
            model._init_weights(module)  # buffers too: the tables of rotary frequencies
            if "layer_scalar" in dict(module.named_buffers(recurse=False)):
                module.get_buffer("layer_scalar").fill_(1)  # transformers leaves out the encoder's
    return model.eval()


def on_meta(config: Any, dtype: torch.dtype) -> Any:
    from transformers import DiffusionGemmaForBlockDiffusion

    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)  # what asks for float32 by name stays float32
    try:
        with torch.device("meta"):
            return DiffusionGemmaForBlockDiffusion(config)
    finally:
        torch.set_default_dtype(before)


def _make_room(model: nn.Module, device: torch.device) -> None:
    """``Module.to_empty`` would part what is tied, and take the memory twice."""
    made: dict[int, Tensor] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            if id(parameter) not in made:
                empty = torch.empty_like(parameter, device=device)
                made[id(parameter)] = nn.Parameter(empty, requires_grad=False)
            setattr(module, name, made[id(parameter)])
        for name, buffer in module.named_buffers(recurse=False):
            module.get_buffer(name)  # plain attributes that share a name would be left alone
            setattr(module, name, torch.empty_like(buffer, device=device))
