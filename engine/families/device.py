"""Choose where torch runs a model and in which number format, by what the machine has."""

import torch

from intarsia.engine.config import Device, Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.memory import free_memory


def choose_device(requested: Device) -> torch.device:
    """Return the device. Raises ModelError if the requested one is not usable here."""
    if requested == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    if requested == "cuda" and not torch.cuda.is_available():
        raise ModelError("no CUDA device is usable here: leave `--device` out, or see `nvidia-smi`")
    if requested == "mps" and not torch.backends.mps.is_available():
        raise ModelError("no Apple GPU is usable here: leave `--device` out")
    return torch.device(requested)


def choose_dtype(requested: Dtype, device: torch.device) -> torch.dtype:
    """Return bfloat16 where the hardware multiplies it, else float32: emulated, it is slower."""
    if requested in ("bfloat16", "float32"):
        return torch.bfloat16 if requested == "bfloat16" else torch.float32
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    has_bf16 = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return torch.bfloat16 if device.type == "cpu" and has_bf16 else torch.float32


def free_bytes(device: torch.device) -> int:
    """Return the free memory of a device."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return free_memory()


def name_of(dtype: torch.dtype) -> str:
    """Return how the status and Hugging Face's configs call a number format."""
    return str(dtype).removeprefix("torch.")


def synchronize(device: torch.device) -> None:
    """Wait until the queue of a GPU has ended; a CPU has none."""
    if device.type == "cpu":
        return
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
