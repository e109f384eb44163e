"""Load a causal backbone and its drafter by what runs it: compiled int8 kernels, or torch.

The kernels need no torch. They are taken on every processor that has the instructions, unless a
GPU, another number format or a shape of another kind asks for torch.
"""

import os
import platform
import sys
from collections.abc import Callable
from ctypes.util import find_library
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from intarsia.engine.cache.folder import cache_folder
from intarsia.engine.config import Device, Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.int8_backbone import (
    is_int8_supported,
    load_int8,
)
from intarsia.engine.families.masked_causal.backbone.int8_conversion import int8_conversion
from intarsia.engine.families.masked_causal.backbone.int8_weights import why_unfit_for_int8
from intarsia.engine.families.masked_causal.backbone.interface import LoadedBackbone
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.kernels import compile_cache
from intarsia.engine.kernels.compile_cache import keep_compiled
from intarsia.engine.kernels.native_kernel import run_layers
from intarsia.engine.kernels.processor import find_dot_product
from intarsia.engine.model_store.checkpoint import is_run_by_transformers
from intarsia.engine.model_store.gguf.convert import Conversion
from intarsia.engine.model_store.locate import ModelFolder


def load_backbone(
    folder: ModelFolder,
    shape: BackboneShape,
    dtype: Dtype = "auto",
    device: Device = "auto",
    *,
    drafter: Path | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> LoadedBackbone:
    """Read and tune a backbone; ``meanwhile`` runs before it, or beside it where it can.

    Raises ModelError where something is missing, misshapen or too large for the memory, and where
    int8 is asked for and cannot run, or torch is needed and not installed.
    """
    reason = _why_not_int8(folder, shape, dtype, device)
    if reason is None:
        return load_int8(folder, shape, drafter=drafter, meanwhile=meanwhile)
    meanwhile()
    if dtype == "int8":
        raise ModelError(f"int8 cannot run here: {reason}: leave `--dtype` out")
    require_torch(f"{folder.name} is not computed in int8 ({reason})")
    loaded = _torch().load_with_torch(folder, shape, dtype, device, drafter=drafter)
    if dtype == "auto" and loaded.device == "cpu":
        return replace(loaded, notes=(f"int8 is not used: {reason}", *loaded.notes))
    return loaded


def require_torch(why: str) -> None:
    """Raise ModelError if torch is not installed; ``why`` begins its sentence."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise ModelError(f"{why}, and torch is not installed: pip install 'intarsia[torch]'")


def may_have_gpu() -> bool:
    """Return whether torch may find a GPU here. Asks for drivers, so that torch need not start."""
    if find_spec("torch") is None:
        return False
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "win32":
        return find_library("nvcuda") is not None
    return any(map(os.path.exists, ("/dev/nvidia0", "/dev/kfd", "/dev/dxg")))


def begin_compiling(device: Device) -> Callable[[], None]:
    """Begin to compile the int8 kernels beside other work, where they may run here.

    Returns what waits until they are compiled, and raises ModelError if they cannot be.
    """
    if find_dot_product() is None or device not in ("auto", "cpu") or may_have_gpu():
        return lambda: None
    keep_compiled(cache_folder() / "kernels")
    compile_cache.begin_compiling()

    def finish() -> None:
        try:
            run_layers.load()
        except RuntimeError as error:
            raise ModelError(
                f"int8 cannot be compiled here ({error}): ask `intarsia doctor`"
            ) from error

    return finish


def conversion_for(dtype: Dtype, device: Device) -> Conversion | None:
    """Return what catalog models are converted to for these settings, None for bfloat16.

    Raises ModelError where that needs torch and it is not installed, before a file is written.
    """
    reason = _why_not_int8_here(dtype, device)
    if reason is None:
        return int8_conversion()
    require_torch(f"int8 is not used here ({reason})")
    return None


def _why_not_int8(
    folder: ModelFolder, shape: BackboneShape, dtype: Dtype, device: Device
) -> str | None:
    """Return why a backbone is not run by our kernels, None if it is."""
    if is_run_by_transformers(folder.config):
        return "int8 is for the shapes of Llama and Qwen"
    return _why_not_int8_here(dtype, device) or why_unfit_for_int8(shape)


def _why_not_int8_here(dtype: Dtype, device: Device) -> str | None:
    """Return why these settings and this processor do not allow int8, None if they do."""
    if dtype not in ("auto", "int8"):
        return f"`--dtype` is {dtype}"
    is_free = device == "auto" and dtype == "auto"
    found = _torch().device_for(device) if is_free and may_have_gpu() else device
    if found not in ("auto", "cpu"):
        return f"it is for the CPU, not for {found}"
    try:
        is_supported = is_int8_supported()
    except Exception as error:  # noqa: BLE001 - a compiler may fail in any way; torch needs none
        return f"its products cannot be compiled here ({error!r})"
    return None if is_supported else "this processor has neither AVX2 nor dot products of bytes"


class _Torch(Protocol):
    """What is asked of ``torch_backbone``."""

    def device_for(self, requested: Device) -> str: ...
    def load_with_torch(
        self,
        folder: ModelFolder,
        shape: BackboneShape,
        dtype: Dtype,
        device: Device,
        *,
        drafter: Path | None,
    ) -> LoadedBackbone: ...


def _torch() -> _Torch:
    """Import torch, which takes more than a second, only where it is used."""
    from intarsia.engine.families.masked_causal.backbone import torch_backbone

    return torch_backbone
