"""Load a DiffusionGemma folder: safetensors only, no code of the folder, no network.

The authors of this file loaded small random checkpoints only, not the released 26B weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion

from intarsia.engine.config import Quantize
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import name_of
from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.families.diffusion_gemma.model import (
    DiffusionGemmaBackbone,
    fold_heads,
)
from intarsia.engine.families.diffusion_gemma.quantize import (
    quantize_gemma,
    require_low_bit,
)
from intarsia.engine.families.diffusion_gemma.settings import read_settings
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer, SpecialIds
from intarsia.engine.families.lora import SCALE, read_tuning
from intarsia.engine.families.pretrained import load_pretrained
from intarsia.engine.filler import ModelInfo

_PARTS = (
    *(f"self_attn.{part}_proj" for part in "qkvo"),
    *(f"mlp.{part}_proj" for part in ("gate", "up", "down")),
)


def tunable_layers(model: Any) -> dict[str, tuple[nn.Linear, ...]]:
    """Return the linear layers that a tuning changes, by their path in the decoder.

    Each entry has the decoder's layer and the encoder's, which share one weight. Router, experts
    and embeddings are not changed.
    """
    decoder, encoder = model.model.decoder.layers, model.model.encoder.language_model.layers
    found: dict[str, tuple[nn.Linear, ...]] = {}
    for number, twins in enumerate(zip(decoder, encoder, strict=True)):
        for part in _PARTS:
            linears = tuple(map(attrgetter(part), twins))
            # layers with full attention have no values of their own
            if all(linear is not None for linear in linears):
                found[f"decoder.layers.{number}.{part}"] = linears
    return found


def layers_without_weights(folder: Path) -> dict[str, tuple[nn.Linear, ...]]:
    """Return these layers as a folder's config has them, on torch's meta device: no numbers."""
    try:
        config = DiffusionGemmaConfig.from_pretrained(folder, local_files_only=True)
        with torch.device("meta"):
            return tunable_layers(DiffusionGemmaForBlockDiffusion(config))
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as fault:
        reason = " ".join(str(fault).split())
        raise ModelError(f"{folder / 'config.json'} is no DiffusionGemma's: {reason}") from fault


def tune_model(model: Any, path: Path) -> None:
    """Merge a tuning into the weights. Raises ModelError if it does not fit the model."""
    layers = tunable_layers(model)
    sizes = {name: (it.in_features, it.out_features) for name, (it, *_) in layers.items()}
    for name, pair in read_tuning(path, sizes, device=model.device).items():
        change = SCALE * pair.up @ pair.down
        for weight in {id(linear.weight): linear.weight for linear in layers[name]}.values():
            with torch.no_grad():
                weight.copy_(weight.float() + change)


_NOTES = (
    "uniform-state diffusion: every position may be revised until the canvas is done",
    "decodes by entropy bound; `speculative` belongs to the masked family and is not used",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedGemma:
    """Weights and tokenizer; ``model`` is transformers' ``DiffusionGemmaForBlockDiffusion``."""

    model: Any
    text: GemmaTokenizer


def load_diffusion_gemma(
    folder: Path | str,
    *,
    device: torch.device | str,
    dtype: torch.dtype,
    name: str,
    max_context_tokens: int = 8192,
    tunings: Sequence[Path] = (),
    quantize: Quantize = "none",
) -> DiffusionGemmaFiller:
    """Load weights, settings and tokenizer. Raises ModelError, MemoryError."""
    loaded = load_gemma(
        Path(folder), device=device, dtype=dtype, tunings=tunings, quantize=quantize
    )
    fold_heads(loaded.model)
    plain = name_of(dtype)
    backbone = DiffusionGemmaBackbone(loaded.model)
    return DiffusionGemmaFiller(
        backbone,
        loaded.text,
        read_settings(loaded.model.generation_config),
        ModelInfo(
            name=name,
            family="diffusion_gemma",
            device=str(backbone.device),
            dtype=plain if quantize == "none" else f"{plain}, {quantize}",
            notes=_NOTES,
        ),
        max_context_tokens=min(max_context_tokens, backbone.max_positions - backbone.canvas_length),
    )


def load_gemma(
    folder: Path,
    *,
    device: torch.device | str,
    dtype: torch.dtype,
    tunings: Sequence[Path] = (),
    quantize: Quantize = "none",
) -> LoadedGemma:
    """Load weights and tokenizer, merge tunings, then quantize. Raises ModelError, MemoryError."""
    device = torch.device(device)
    if quantize != "none":
        require_low_bit(quantize, device)
    tokenizer = _load_tokenizer(folder)
    model = load_pretrained(DiffusionGemmaForBlockDiffusion, folder, dtype)
    if quantize == "none":
        model.to(device)
    for tuning in tunings:
        tune_model(model, tuning)
    if quantize != "none":  # from main memory: the device may have no room for both forms
        leave_out_pictures(model)
        quantize_gemma(model, quantize, device)
        model.to(device)
    return LoadedGemma(model=model, text=GemmaTokenizer(tokenizer, _special_ids(model)))


def leave_out_pictures(model: Any) -> None:
    """Drop the vision weights (1.1 GB of the released model in bfloat16)."""
    encoder = model.model.encoder
    encoder.vision_tower, encoder.embed_vision = nn.Identity(), nn.Identity()


def _load_tokenizer(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise ModelError(f"{folder} has no tokenizer.json: copy it there from the model's page")
    try:
        return Tokenizer.from_file(str(path))
    except Exception as fault:  # the library raises no narrower type
        raise ModelError(f"{path} cannot be read ({fault}): fetch it again") from fault


def _special_ids(model: Any) -> SpecialIds:
    """Return the ids; the generation config may list more end tokens than the model's config."""
    config = model.config.get_text_config()
    ends = getattr(model.generation_config, "eos_token_id", None)
    ends = config.eos_token_id if ends is None else ends
    return SpecialIds(
        begin=config.bos_token_id,
        end=frozenset([ends] if isinstance(ends, int) else ends or ()),
        pad=config.pad_token_id,
    )
