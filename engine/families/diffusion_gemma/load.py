"""Load a DiffusionGemma folder: safetensors only, no code of the folder, no network.

The authors of this file loaded small random checkpoints only, not the released 26B weights.
"""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from intarsia.engine.cache.folder import plain_disk_faults, require_own_folder
from intarsia.engine.cache.progress import Progress
from intarsia.engine.config import Quantize
from intarsia.engine.errors import ModelError
from intarsia.engine.families.device import name_of
from intarsia.engine.families.diffusion_gemma.choose_form import SHARES, choose_form, num_bytes_of
from intarsia.engine.families.diffusion_gemma.filler import DiffusionGemmaFiller
from intarsia.engine.families.diffusion_gemma.model import (
    DiffusionGemmaBackbone,
    fold_heads,
)
from intarsia.engine.families.diffusion_gemma.quantize import (
    LowBit,
    quantize_gemma,
    require_low_bit,
)
from intarsia.engine.families.diffusion_gemma.settings import read_settings
from intarsia.engine.families.diffusion_gemma.tokenizer import GemmaTokenizer, SpecialIds
from intarsia.engine.families.diffusion_gemma.weights import empty_model, read_model, save_low_bit
from intarsia.engine.families.lora import SCALE, read_tuning
from intarsia.engine.filler import ModelInfo
from intarsia.engine.model_store.checkpoint import weight_files
from intarsia.engine.model_store.gguf.convert import converted_folder, make_conversion

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
    """Return the same layers of a folder's config: shapes, no numbers. Raises ModelError."""
    return tunable_layers(empty_model(folder))


def tune_model(model: Any, path: Path) -> None:
    """Merge a tuning into the weights. Raises ModelError if it does not fit the model."""
    layers = tunable_layers(model)
    if not all(isinstance(linear, nn.Linear) for twins in layers.values() for linear in twins):
        raise ModelError("a tuning cannot be added to quantised weights: take the bfloat16 model")
    sizes = {name: (it.in_features, it.out_features) for name, (it, *_) in layers.items()}
    for name, pair in read_tuning(path, sizes).items():
        change = torch.from_numpy(SCALE * pair.up @ pair.down).to(model.device)
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
    on_progress: Progress = lambda stage, share: None,
) -> DiffusionGemmaFiller:
    """Load weights, settings and tokenizer. Raises ModelError, NoRoomError."""
    folder, device = Path(folder), torch.device(device)
    form = choose_form(folder, weight_files(folder), quantize, device, dtype)
    loaded = load_gemma(
        folder,
        device=device,
        dtype=dtype,
        tunings=tunings,
        quantize=form.quantize,
        on_progress=on_progress,
    )
    fold_heads(loaded.model)
    backbone = DiffusionGemmaBackbone(loaded.model)
    if device.type == "cuda":
        on_progress("recording a pass", None)
        backbone.use_graphs()
    return DiffusionGemmaFiller(
        backbone,
        loaded.text,
        read_settings(loaded.model.generation_config),
        ModelInfo(
            name=name,
            family="diffusion_gemma",
            device=str(backbone.device),
            dtype=", ".join([name_of(dtype), *([form.name] if form.name else [])]),
            notes=(*form.notes, *_NOTES),
        ),
        max_context_tokens=min(max_context_tokens, backbone.max_positions - backbone.canvas_length),
    )


def load_gemma(
    folder: Path,
    *,
    device: torch.device | str,
    dtype: torch.dtype,
    tunings: Sequence[Path] = (),
    quantize: LowBit | None = None,
    on_progress: Progress = lambda stage, share: None,
) -> LoadedGemma:
    """Load weights and tokenizer, merge tunings, then quantize. Raises ModelError, NoRoomError.

    What is quantised here is kept in the cache, where there is room, and mapped the next time.
    """
    device, files = torch.device(device), weight_files(folder)
    tokenizer = _load_tokenizer(folder)
    if quantize is None:
        model = read_model(folder, files, device=device, dtype=dtype)
        for tuning in tunings:
            tune_model(model, tuning)
    else:
        require_low_bit(quantize, device)
        make = partial(_quantized, folder, files, tunings, quantize, device, dtype)
        kept = _kept_folder(folder, files, tunings, quantize, dtype)
        if kept is None:
            on_progress(f"quantising {folder.name} (no room to keep the result)", None)
            model = make()
        else:
            make_conversion(
                kept,
                f"quantises {folder.name}",
                on_progress,
                partial(_write_quantized, make, folder, on_progress),
            )
            weights = kept / "model.safetensors"
            model = read_model(folder, [weights], device=device, dtype=dtype)
    return LoadedGemma(model=model, text=GemmaTokenizer(tokenizer, _special_ids(model)))


def _quantized(
    folder: Path,
    files: Sequence[Path],
    tunings: Sequence[Path],
    kind: LowBit,
    device: torch.device,
    dtype: torch.dtype,
) -> Any:
    """Return a quantised model. It is read into main memory: the device has no room for both."""
    model = read_model(folder, files, device=torch.device("cpu"), dtype=dtype)
    for tuning in tunings:
        tune_model(model, tuning)
    quantize_gemma(model, kind, device)
    return model.to(device)


def _write_quantized(
    make: Callable[[], Any], folder: Path, on_progress: Progress, target: Path
) -> None:
    on_progress(f"quantising {folder.name}, once", None)
    save_low_bit(make(), target / "model.safetensors")
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(folder / name, target / name)


_LAYOUT = 1
"""Raised whenever what is kept changes its form."""


def _kept_folder(
    folder: Path, files: Sequence[Path], tunings: Sequence[Path], kind: LowBit, dtype: torch.dtype
) -> Path | None:
    """Return where these weights are kept once they are quantised, None where there is no room."""
    parts = [str(folder.resolve()), kind, name_of(dtype), str(_LAYOUT)]
    for file in (*files, *tunings):
        stat = file.stat()
        parts.append(f"{file} {stat.st_size} {stat.st_mtime_ns}")
    key = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    kept = converted_folder(f"{folder.resolve().name}-{kind}-{key}")
    with plain_disk_faults(kept.parent):
        require_own_folder(kept.parent)
    room = shutil.disk_usage(kept.parent).free
    return kept if kept.is_dir() or room > SHARES[kind] * num_bytes_of(files) else None


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
