"""Choose where a model runs and in which number format, by what the machine has, and time it."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import torch

from intarsia.engine.config import Device, Dtype
from intarsia.engine.errors import ModelError, NoRoomError

_CGROUP = Path("/sys/fs/cgroup")


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
    return min(int(psutil.virtual_memory().available), _free_of_limit())


def _free_of_limit() -> int:
    """Return what is left of a container's memory limit (Linux), which free memory ignores."""
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
        return sys.maxsize if limit == "max" else max(0, int(limit) - used)
    except (OSError, ValueError):
        return sys.maxsize  # no such limit here


def require_memory(num_bytes: int, device: torch.device, name: str) -> None:
    """Raise NoRoomError before a load that would not fit into memory."""
    free = free_bytes(device)
    if num_bytes > free:
        raise NoRoomError(
            f"{name} needs {num_bytes / 2**30:.1f} GiB of memory, {free / 2**30:.1f} GiB are free: "
            "close something, or take a smaller model (`intarsia doctor` names them)"
        )


def name_of(dtype: torch.dtype) -> str:
    """Return how the status and Hugging Face's configs call a number format."""
    return str(dtype).removeprefix("torch.")


class Stopwatch:
    """Seconds of computing on a device, without the time between two laps."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.seconds = 0.0

    @contextmanager
    def lap(self) -> Iterator[None]:
        """Add the time of a block; a GPU's own queue has ended by then."""
        started_at = time.perf_counter()
        yield
        _synchronize(self._device)
        self.seconds += time.perf_counter() - started_at


def _synchronize(device: torch.device) -> None:
    """Wait until the queue of a GPU has ended; a CPU has none."""
    if device.type == "cpu":
        return
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
