"""Load the model of a name as a Filler of its family. Runs on the engine's worker thread."""

from pathlib import Path

from intarsia.engine.cache.own_file import sha256_of
from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.families.chat_form import following_of
from intarsia.engine.families.masked_causal.backbone.fim_tokenizer import (
    FimTokenizer,
    read_fim_tokenizer,
)
from intarsia.engine.families.masked_causal.backbone.int8_weights import INT8_FORMAT
from intarsia.engine.families.masked_causal.backbone.load import (
    begin_compiling,
    conversion_for,
    load_backbone,
    require_torch,
)
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.open_context import OpenContext
from intarsia.engine.filler import Filler, ModelInfo
from intarsia.engine.model_store.catalog import find_model
from intarsia.engine.model_store.download import fetch, pull
from intarsia.engine.model_store.locate import ModelFolder, locate_model


def load_filler(config: EngineConfig, model: str, on_progress: Progress) -> Filler:
    """Return the loaded model. Raises ModelError."""
    folder = _locate(config, model, on_progress)
    _require_fitting(config, folder)
    on_progress(f"loading {folder.name}", None)
    if folder.family == "diffusion_gemma":
        require_torch(f"{folder.name} is a DiffusionGemma")
        # Imported here, as torch takes seconds to import and the other family needs none.
        from intarsia.engine.families.device import choose_device, choose_dtype
        from intarsia.engine.families.diffusion_gemma.load import load_diffusion_gemma

        device = choose_device(config.device)
        return load_diffusion_gemma(
            folder.path,
            device=device,
            dtype=choose_dtype(config.dtype, device),
            name=folder.name,
            max_context_tokens=config.max_context_tokens,
            tunings=folder.tunings,
            quantize=config.quantize,
            on_progress=on_progress,
        )
    return _load_masked_causal(folder, config, model, on_progress)


def check_model(config: EngineConfig, model: str, on_progress: Progress) -> None:
    """Raise ModelError if the model's files show, without the weights, that it cannot be loaded."""
    folder = _locate(config, model, on_progress)
    _require_fitting(config, folder)
    if folder.family == "masked_causal":
        _read_tokenizer(folder, read_shape(folder.config))


def make_ready(
    config: EngineConfig, model: str, on_progress: Progress, *, keeps_file: bool = False
) -> Path:
    """Download, convert and compile what a start then only loads; return its folder.

    Kernels are compiled while a model of the catalog is fetched and converted; its download is then
    removed, unless ``keeps_file``. Of another model only the files are fetched. Raises ModelError.
    """
    if (row := find_model(model)) is None:
        return pull(model, on_progress)
    finish_compiling = begin_compiling(config.device)
    if keeps_file:
        fetch(row, on_progress)
    folder = _locate(config, model, on_progress)
    on_progress("compiling for this processor", None)
    finish_compiling()
    return folder.path


def _locate(config: EngineConfig, model: str, on_progress: Progress) -> ModelFolder:
    conversion = conversion_for(config.dtype, config.device)
    return locate_model(model, on_progress, rows_tuned_by=rows_tuned_by, conversion=conversion)


def _require_fitting(config: EngineConfig, folder: ModelFolder) -> None:
    """Raise ModelError for settings of the other family."""
    if folder.family == "diffusion_gemma" and config.dtype == "int8":
        raise ModelError("int8 is for causal backbones: omit `--dtype`")
    if folder.family == "masked_causal" and config.quantize not in ("auto", "none"):
        raise ModelError(
            "`--quantize` is for DiffusionGemma: omit it, or use `--dtype int8` on a CPU"
        )


def _load_masked_causal(
    folder: ModelFolder,
    config: EngineConfig,
    model: str,
    on_progress: Progress,
) -> MaskedCausalFiller:
    shape = read_shape(folder.config)
    # The configured drafter belongs to the configured model, not to another that a request names.
    configured = config.drafter if model == config.model else None
    drafter = configured or folder.drafter
    tokenizers: list[FimTokenizer] = []
    loaded = load_backbone(
        folder,
        shape,
        config.dtype,
        config.device,
        drafter=drafter,
        meanwhile=lambda: tokenizers.append(_read_tokenizer(folder, shape)),
    )
    on_progress(f"preparing {folder.name} for this processor", None)
    loaded.backbone.prepare()
    return MaskedCausalFiller(
        OpenContext(loaded.backbone, cache_tokens=config.cache_tokens),
        tokenizers[0],
        ModelInfo(
            name=folder.name,
            family="masked block diffusion on a causal backbone",
            device=loaded.device,
            dtype=loaded.format_name,
            notes=(*_notes(folder, drafter), *loaded.notes),
        ),
        max_context_tokens=min(config.max_context_tokens, shape.max_positions // 2),
        following=following_of(folder.name),
    )


def _read_tokenizer(folder: ModelFolder, shape: BackboneShape) -> FimTokenizer:
    tokenizer = read_fim_tokenizer(folder.path)
    # What we converted has a row for each token; to count them takes a quarter of a second.
    is_ours = folder.is_fused or folder.format == INT8_FORMAT
    if not is_ours and tokenizer.num_tokens > shape.vocab_size:
        raise ModelError(
            f"{folder.path} has a tokenizer of {tokenizer.num_tokens} tokens and a model of "
            f"{shape.vocab_size}: take both from the same model"
        )
    return tokenizer


def _notes(folder: ModelFolder, drafter: Path | None) -> tuple[str, ...]:
    """Return what the status says of the weights: which files changed the backbone."""
    tunings = [("tuning", tuning) for tuning in (folder.tuned_by, *folder.tunings)]
    files = [*tunings, ("drafter", drafter)]
    notes = [f"{kind} {sha256_of(file)[:12]}" for kind, file in files if file is not None]
    if drafter is None:
        notes.append("no drafter for this model: one token a pass, left to right")
    return tuple(notes)
