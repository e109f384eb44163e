"""Read DiffusionGemma's weights from safetensors into transformers' model, in 16 bits or fewer.

The model is built without numbers, and each tensor of the files takes its place in it. Nothing of
pictures is read. Encoder and decoder share all weights but their layers' scalars. Tensors that are
missing, that nothing here knows, or that have another shape, are errors: a model is never run with
numbers that mean something else.

Read are bfloat16 with the experts in one tensor (as released) or in a tensor each, and the formats
of NVIDIA's Model Optimizer (NVFP4, FP8) and of compressed-tensors (NVFP4, FP8, 4-bit integers), as
their published checkpoints name them. The authors of this file read small checkpoints only, whose
tensors these libraries packed.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion, GenerationConfig

from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.choose_form import PICTURES
from intarsia.engine.families.diffusion_gemma.quantize import (
    FLOAT8,
    LowBitExperts,
    LowBitMatrices,
    LowBitMatrix,
    LowBitNumbers,
    pack_int4,
    pack_nvfp4,
)

_EXPERT = re.compile(r"(.+\.experts)\.(\d+)\.(gate|up|down)_proj")
_OF_ACTIVATIONS = frozenset({"input_scale", "input_global_scale", "k_scale", "v_scale"})
_DECODER, _ENCODER = "model.decoder.", "model.encoder.language_model."
_OWN_EXPERTS = re.compile(r"(.+\.experts)\.(gate_up|down)")
_OWN_PARTS = {"numbers", "scale"}
_INT4_GROUP = 64
_PARTS = ("gate", "up", "down")

Stored: TypeAlias = Mapping[str, Tensor]
"""The tensors of one module, by the last part of their names."""


def empty_model(folder: Path) -> Any:
    """Return the model of a folder's config without numbers or pictures. Raises ModelError."""
    try:
        config = DiffusionGemmaConfig.from_pretrained(folder, local_files_only=True)
        with torch.device("meta"):
            model = DiffusionGemmaForBlockDiffusion(config)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError) as fault:
        reason = " ".join(str(fault).split())
        raise ModelError(f"{folder / 'config.json'} is no DiffusionGemma's: {reason}") from fault
    encoder = model.model.encoder
    encoder.vision_tower, encoder.embed_vision = nn.Identity(), nn.Identity()
    return model.eval()


@torch.no_grad()
def read_model(
    folder: Path, files: Sequence[Path], *, device: torch.device, dtype: torch.dtype
) -> Any:
    """Return transformers' model with the weights of the files. Raises ModelError.

    What is stored in 16 or 32 bits gets ``dtype``; on a CPU it stays mapped where it has it.
    """
    model = empty_model(folder)
    place = _Placing(model, folder, lambda tensor: tensor.to(device, dtype))
    experts: dict[str, dict[tuple[int, str], Stored]] = defaultdict(dict)
    own: dict[str, dict[str, LowBitNumbers]] = defaultdict(dict)
    for path, stored in _modules(folder, files).items():
        if match := _EXPERT.fullmatch(path):
            experts[match[1]][int(match[2]), match[3]] = stored
        elif (match := _OWN_EXPERTS.fullmatch(path)) and stored.keys() == _OWN_PARTS:
            own[match[1]][match[2]] = LowBitNumbers(stored["numbers"], stored["scale"])
        elif (numbers := low_bit_numbers(path, stored)) is not None:
            place.matrix(path, numbers.to(device))
        else:
            for part, tensor in stored.items():
                place.tensor(path, part, tensor)
    for path, by_expert in experts.items():
        place.experts(path, by_expert, device)
    for path, halves in own.items():
        place.packed_experts(path, halves, device)
    place.finish(device)
    if (folder / "generation_config.json").is_file():
        model.generation_config = _generation_config(folder)
    return model


def _modules(folder: Path, files: Sequence[Path]) -> dict[str, dict[str, Tensor]]:
    """Return the tensors of each module, mapped, without those of pictures and activations."""
    found: dict[str, dict[str, Tensor]] = defaultdict(dict)
    try:
        for file in files:
            with safe_open(file, framework="pt") as tensors:
                for name in tensors.keys():  # noqa: SIM118  (it is no mapping)
                    path, _, part = name.rpartition(".")
                    if not name.startswith(PICTURES) and part not in _OF_ACTIVATIONS:
                        found[path][part] = tensors.get_tensor(name)
    except (OSError, SafetensorError) as fault:
        raise ModelError(f"{folder} cannot be read ({fault}): fetch the model again") from fault
    return found


def _generation_config(folder: Path) -> Any:
    kind = DiffusionGemmaForBlockDiffusion.generation_config_class or GenerationConfig
    try:
        return kind.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as fault:
        reason = " ".join(str(fault).split())
        raise ModelError(f"{folder / 'generation_config.json'} is damaged: {reason}") from fault


class _Placing:
    """Puts tensors where they belong in an empty model, in the decoder and in the encoder."""

    def __init__(self, model: Any, folder: Path, convert: Callable[[Tensor], Tensor]) -> None:
        self._model = model
        self._folder = folder
        self._convert = convert
        self._unknown: list[str] = []

    def tensor(self, path: str, part: str, tensor: Tensor) -> None:
        """Put a tensor that a module of the model has itself."""
        module = self._module(path)
        if not isinstance(needed := getattr(module, part, None), Tensor):
            self._unknown.append(f"{path}.{part}")
            return
        self._require(f"{path}.{part}", tensor.shape, needed.shape)
        if not tensor.is_floating_point() or tensor.dtype == FLOAT8:
            raise ModelError(
                f"{self._folder}: {path}.{part} has numbers in {tensor.dtype} without a scale"
            )
        known = self._convert(tensor)
        if part in module._parameters:
            known = nn.Parameter(known, requires_grad=False)
        for twin in [module] if part == "layer_scalar" else self._twins(path, module):
            setattr(twin, part, known)

    def matrix(self, path: str, numbers: LowBitNumbers) -> None:
        """Put a matrix in few bits in the place of a linear layer."""
        linear = self._module(path)
        if not isinstance(linear, nn.Linear):
            self._unknown.append(path)
            return
        self._require(path, _shape_of(numbers), linear.weight.shape)
        matrix = LowBitMatrix(*numbers)
        for name in self._twin_paths(path):
            self._model.set_submodule(name, matrix)

    def experts(
        self, path: str, stored: Mapping[tuple[int, str], Stored], device: torch.device
    ) -> None:
        """Put experts that have tensors of their own, by number and part ("gate", "up", "down")."""
        module = self._module(path)
        if module is None:
            self._unknown.append(path)
            return
        names = {at: f"{path}.{at[0]}.{at[1]}_proj" for at in stored}
        wanted = [(number, part) for number in range(module.num_experts) for part in _PARTS]
        if missing := [
            f"{path}.{number}.{part}_proj"
            for number, part in wanted
            if (number, part) not in stored
        ]:
            raise self._lacking(missing)
        self._unknown += [names[at] for at in stored.keys() - set(wanted)]
        low = {at: low_bit_numbers(names[at], stored[at]) for at in wanted}
        packed = {at: numbers for at, numbers in low.items() if numbers is not None}
        if not packed:
            self._plain_experts(path, {at: _weight(names[at], stored[at]) for at in wanted})
        elif len(packed) == len(wanted):
            self.packed_experts(path, _by_half(packed), device)
        else:
            raise ModelError(f"{self._folder}: some experts of {path} are quantised, others not")

    def _plain_experts(self, path: str, weights: Mapping[tuple[int, str], Tensor]) -> None:
        gates, ups, downs = ([weights[at] for at in weights if at[1] == part] for part in _PARTS)
        gate_up = [torch.cat(pair) for pair in zip(gates, ups, strict=True)]
        self.tensor(path, "gate_up_proj", torch.stack(gate_up))
        self.tensor(path, "down_proj", torch.stack(downs))

    def packed_experts(
        self, path: str, halves: Mapping[str, LowBitNumbers], device: torch.device
    ) -> None:
        """Put experts in few bits: ``gate_up`` and ``down``, of all of them."""
        module = self._module(path)
        if module is None or halves.keys() != {"gate_up", "down"}:
            self._unknown.append(path)
            return
        for half, numbers in halves.items():
            needed = getattr(module, f"{half}_proj").shape
            self._require(f"{path}.{half}", _shape_of(numbers), needed)
        gate_up, down = (LowBitMatrices(*halves[half].to(device)) for half in ("gate_up", "down"))
        for name in self._twin_paths(path):
            self._model.set_submodule(name, LowBitExperts(gate_up, down, module.act_fn))

    def finish(self, device: torch.device) -> None:
        """Tie the output matrix, compute what is not stored, and check that all is there."""
        if self._unknown:
            raise ModelError(
                f"{self._folder} has {len(self._unknown)} tensors that are no DiffusionGemma's or "
                f"quantised in an unknown way ({self._unknown[0]} …): take the bfloat16 model"
            )
        inner = self._model.model
        self._model.lm_head.weight = inner.decoder.embed_tokens.weight
        for text in (inner.decoder, inner.encoder.language_model):
            text.rotary_emb = type(text.rotary_emb)(text.rotary_emb.config).to(device)
            embed = text.embed_tokens
            embed.embed_scale = torch.tensor(embed.scalar_embed_scale, device=device)
        named = (*self._model.named_parameters(), *self._model.named_buffers())
        if missing := sorted(name for name, tensor in named if tensor.is_meta):
            raise self._lacking(missing)

    def _lacking(self, missing: Sequence[str]) -> ModelError:
        return ModelError(
            f"{self._folder} lacks {len(missing)} tensors ({missing[0]} …): fetch the model again"
        )

    def _require(self, name: str, found: Sequence[int], needed: Sequence[int]) -> None:
        if tuple(found) != tuple(needed):
            raise ModelError(
                f"{self._folder}: {name} is {tuple(found)}, its config says {tuple(needed)}: "
                "fetch the model again"
            )

    def _module(self, path: str) -> Any:
        try:
            return self._model.get_submodule(path)
        except AttributeError:
            return None

    def _twins(self, path: str, module: Any) -> list[Any]:
        return [module, *(self._module(name) for name in self._twin_paths(path)[1:])]

    def _twin_paths(self, path: str) -> list[str]:
        """Return a decoder's path, and the encoder's that has the same weights, if one has."""
        twin = _ENCODER + path.removeprefix(_DECODER)
        has_twin = path.startswith(_DECODER) and self._module(twin) is not None
        return [path, twin] if has_twin else [path]


def low_bit_numbers(path: str, stored: Stored) -> LowBitNumbers | None:
    """Return a stored matrix in few bits, None where it is none. Raises ModelError.

    Its tensors are, beside those of the activations:

    - Model Optimizer, NVFP4: ``weight`` (bytes), ``weight_scale`` (float8), ``weight_scale_2``
      (a factor); FP8: ``weight`` (float8), ``weight_scale`` (of the matrix);
    - compressed-tensors, NVFP4: ``weight_packed`` (bytes), ``weight_scale`` (float8),
      ``weight_global_scale`` (a divisor); FP8: ``weight`` (float8), ``weight_scale`` (of each row);
      four bits: ``weight_packed`` (int32), ``weight_scale`` (of each group), ``weight_shape``.
    """
    if stored.keys() == _OWN_PARTS:
        return LowBitNumbers(stored["numbers"], stored["scale"])
    if "weight_scale" not in stored:
        return None
    parts, scale = stored.keys() - {"weight_scale"}, stored["weight_scale"]
    if parts == {"weight"} and stored["weight"].dtype == FLOAT8:
        return _float8(path, stored["weight"], scale)
    if parts == {"weight", "weight_scale_2"}:
        return _nvfp4(path, stored["weight"], scale, stored["weight_scale_2"].float())
    if parts == {"weight_packed", "weight_global_scale"}:
        return _nvfp4(
            path, stored["weight_packed"], scale, 1 / stored["weight_global_scale"].float()
        )
    if parts == {"weight_packed", "weight_shape"}:
        return _int4(path, stored["weight_packed"], scale, stored["weight_shape"])
    raise _unknown_format(path, stored.keys())


def _weight(path: str, stored: Stored) -> Tensor:
    """Return the one tensor of a matrix in 16 or 32 bits."""
    if stored.keys() != {"weight"}:
        raise _unknown_format(path, stored.keys())
    return stored["weight"]


def _unknown_format(path: str, parts: Collection[str]) -> ModelError:
    return ModelError(
        f"{path} is quantised in an unknown way ({', '.join(sorted(parts))}): take the model in "
        "bfloat16, which is quantised when it is loaded, or in NVFP4"
    )


def _float8(path: str, weight: Tensor, scale: Tensor) -> LowBitNumbers:
    if scale.numel() not in (1, len(weight)):
        raise _unknown_format(path, [f"{tuple(scale.shape)} scales of {tuple(weight.shape)}"])
    return LowBitNumbers(weight, scale.float().flatten().expand(len(weight)).contiguous())


def _nvfp4(path: str, packed: Tensor, scale: Tensor, factor: Tensor) -> LowBitNumbers:
    is_known = packed.dtype == torch.uint8 and scale.dtype == FLOAT8 and factor.numel() == 1
    if not is_known or packed.shape[-1] != 8 * scale.shape[-1] or scale.shape[-1] % 2:
        raise _unknown_format(path, [f"{tuple(scale.shape)} scales of {tuple(packed.shape)} bytes"])
    codes = torch.stack((packed & 15, packed >> 4), dim=-1).flatten(-2)  # the lower half first
    return LowBitNumbers(
        pack_nvfp4(codes), scale, factor.flatten().expand(len(packed)).contiguous()
    )


def _int4(path: str, packed: Tensor, scale: Tensor, shape: Tensor) -> LowBitNumbers:
    num_rows, num_columns = (int(size) for size in shape)
    group = num_columns // scale.shape[-1]
    if packed.shape != (num_rows, num_columns // 8) or packed.dtype != torch.int32:
        raise _unknown_format(path, ["integers that are not of four bits"])
    shifts = torch.arange(0, 32, 4, dtype=torch.int32)
    codes = ((packed[..., None] >> shifts) & 15).flatten(-2).to(torch.uint8)
    size = math.gcd(group, _INT4_GROUP)
    return LowBitNumbers(pack_int4(codes, size), scale.repeat_interleave(group // size, dim=-1))


def _by_half(packed: Mapping[tuple[int, str], LowBitNumbers]) -> dict[str, LowBitNumbers]:
    gates, ups, downs = ([packed[at] for at in packed if at[1] == part] for part in _PARTS)
    both = [_joined(torch.cat, *pair) for pair in zip(gates, ups, strict=True)]
    return {"gate_up": _joined(torch.stack, *both), "down": _joined(torch.stack, *downs)}


def save_low_bit(model: Any, path: Path) -> None:
    """Write a model that ``quantize_gemma`` has quantised; ``read_model`` reads it."""
    tensors = {
        name: tensor.to("cpu").contiguous()
        for name, tensor in model.state_dict().items()
        if name.startswith(_DECODER) or name.endswith(".layer_scalar")
    }
    save_file(tensors, path, metadata={"format": "intarsia-low-bit-1"})


def _shape_of(numbers: LowBitNumbers) -> tuple[int, ...]:
    """Return the shape (…, out, in) of the matrices."""
    *rows, width = numbers.numbers.shape
    return (*rows, width if numbers.numbers.dtype == FLOAT8 else 2 * width)


def _joined(join: Callable[[list[Tensor]], Tensor], *parts: LowBitNumbers) -> LowBitNumbers:
    numbers, scales, row_scales = zip(*parts, strict=True)
    with_rows = [scale for scale in row_scales if scale is not None]
    return LowBitNumbers(
        join(list(numbers)), join(list(scales)), join(with_rows) if with_rows else None
    )
