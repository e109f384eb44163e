"""Load a DiffusionGemma for training from its folder."""

from pathlib import Path

from intarsia.engine.config import Device, Dtype
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_device, choose_dtype
from intarsia.engine.families.diffusion_gemma.load import LoadedGemma, load_gemma
from intarsia.engine.model_store.locate import ModelFolder
from intarsia.training.batched_backbone import ReportProgress


def load_uniform(
    folder: ModelFolder,
    on_progress: ReportProgress,
    *,
    device: Device = "auto",
    dtype: Dtype = "auto",
    tuning: Path | None = None,
) -> LoadedGemma:
    """Load a model of the DiffusionGemma family, with the tunings its name and ``tuning`` give.

    Raises ModelError.
    """
    if folder.family != "diffusion_gemma":
        raise ModelError(f"{folder.name} is not a DiffusionGemma: its training differs")
    on_progress(f"loading {folder.name}", None)
    on_device = choose_device(device)
    return load_gemma(
        folder.path,
        device=on_device,
        dtype=choose_dtype(dtype, on_device),
        tunings=(*folder.tunings, *([tuning] if tuning else [])),
    )
