"""What the user calls a model → a Filler, by its family. Run on the engine's worker thread."""

import torch

from intarsia.engine.cache.digest import sha256_of
from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import EngineConfig
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import choose_device, choose_dtype
from intarsia.engine.families.masked_causal.backbone.load import load_backbone
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import rows_tuned_by
from intarsia.engine.families.masked_causal.filler import MaskedCausalFiller
from intarsia.engine.families.masked_causal.fim_tokenizer import FimTokenizer, read_fim_tokenizer
from intarsia.engine.families.masked_causal.model import MaskedCausal
from intarsia.engine.filler import Filler, ModelInfo
from intarsia.engine.model_store.locate import ModelFolder, locate_model


def load_filler(config: EngineConfig, model: str, on_progress: Progress) -> Filler:
    """Return a loaded model. Raises ModelError with what is wrong and what to do."""
    folder = locate_model(model, on_progress, rows_tuned_by=rows_tuned_by)
    _require_fitting(config, folder)
    device = choose_device(config.device)
    on_progress(f"loading {folder.name}", None)
    if folder.family == "diffusion_gemma":
        # transformers takes seconds to import: only the family that needs it pays
        from intarsia.engine.families.diffusion_gemma.load import load_diffusion_gemma

        return load_diffusion_gemma(
            folder.path,
            device=device,
            dtype=choose_dtype(config.dtype, device),
            name=folder.name,
            max_context_tokens=config.max_context_tokens,
            tunings=folder.tunings,
            quantize=config.quantize,
        )
    return _load_masked_causal(folder, config, model, device, on_progress)


def check_model(config: EngineConfig, model: str, on_progress: Progress) -> None:
    """Raise ModelError where the files tell, without the weights, that loading must fail."""
    folder = locate_model(model, on_progress, rows_tuned_by=rows_tuned_by)
    _require_fitting(config, folder)
    if folder.family == "masked_causal":
        _shape_and_text(folder)


def _require_fitting(config: EngineConfig, folder: ModelFolder) -> None:
    """Refuse settings that are for the other family."""
    if folder.family == "diffusion_gemma" and config.dtype == "int8":
        raise ModelError("int8 is for causal backbones: leave `--dtype` out")
    if folder.family == "masked_causal" and config.quantize != "none":
        raise ModelError(
            "`--quantize` is for DiffusionGemma: leave it out, or take `--dtype int8` on a CPU"
        )


def _load_masked_causal(
    folder: ModelFolder,
    config: EngineConfig,
    model: str,
    device: torch.device,
    on_progress: Progress,
) -> MaskedCausalFiller:
    shape, text = _shape_and_text(folder)
    # The configured adapter belongs to the configured model, not to another that is asked for.
    named = config.adapter if model == config.model else None
    path = named or folder.adapter
    loaded = load_backbone(folder, shape, config.dtype, device, adapter=path, mask_id=text.mask_id)
    on_progress(f"preparing {folder.name} for this processor", None)
    loaded.backbone.prepare()
    tunings = [("tuning", tuning) for tuning in (folder.tuned_by, *folder.tunings)]
    named_files = [*tunings, ("adapter", path)]
    notes = [f"{what} {sha256_of(file)[:12]}" for what, file in named_files if file is not None]
    if path is None:
        notes.append("no adapter for this model: one token a pass, left to right")
    return MaskedCausalFiller(
        MaskedCausal(loaded.backbone, cache_tokens=config.cache_tokens),
        text,
        ModelInfo(
            name=folder.name,
            family="masked block diffusion on a causal backbone",
            device=str(device),
            dtype=loaded.format_name,
            notes=tuple(notes),
        ),
        max_context_tokens=min(config.max_context_tokens, shape.max_positions // 2),
    )


def _shape_and_text(folder: ModelFolder) -> tuple[BackboneShape, FimTokenizer]:
    shape = read_shape(folder.config)
    text = read_fim_tokenizer(folder.path)
    if text.num_tokens > shape.vocab_size:
        raise ModelError(
            f"{folder.path} holds a tokenizer of {text.num_tokens} tokens and a model of "
            f"{shape.vocab_size}: they are of different models"
        )
    return shape, text
