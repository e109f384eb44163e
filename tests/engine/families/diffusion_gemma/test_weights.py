"""Checkpoints of each published kind: read as they are meant, or refused with advice."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_diffusion_gemma import save_tiny_tokenizer, tiny_config
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.diffusion_gemma.quantize import FLOAT8, LowBitMatrix, to_float8
from intarsia.engine.families.diffusion_gemma.weights import low_bit_numbers, read_model
from intarsia.engine.model_store.checkpoint import family_of, read_config, weight_files

CPU = torch.device("cpu")
PACKED = Path(__file__).parent / "packed_by_libraries.safetensors"
KINDS = ("modelopt_nvfp4", "modelopt_fp8", "compressed_nvfp4", "compressed_fp8")
KINDS = (*KINDS, "compressed_w4a16_32", "compressed_w4a16_128")


@pytest.mark.parametrize("kind", KINDS)
def test_a_matrix_of_a_library_is_what_the_library_says(kind: str) -> None:
    """Packed and unpacked by nvidia-modelopt 0.47.0 and compressed-tensors 0.20.0."""
    stored = {
        name.removeprefix(f"{kind}/"): tensor
        for name, tensor in load_file(PACKED).items()
        if name.startswith(f"{kind}/")
    }
    expected = stored.pop("expected")
    numbers = low_bit_numbers("layer", stored)
    assert numbers is not None
    found = LowBitMatrix(*numbers)(torch.eye(expected.shape[1])).T
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-7)


# -- whole checkpoints -----------------------------------------------------------------------------


def nvfp4(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return bytes (the first of two numbers below), float8 scales, and a factor."""
    factor = matrix.abs().max() / (6 * 448)
    groups = matrix.unflatten(-1, (-1, 16))
    scale = (groups.abs().amax(-1) / 6 / factor).clamp(min=2**-9).to(FLOAT8)
    sizes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    scaled = groups / (scale.float() * factor)[..., None]
    code = (scaled.abs()[..., None] - sizes).abs().argmin(-1) + 8 * (scaled < 0)
    codes = code.flatten(-2).to(torch.uint8)
    return codes[..., 0::2] | codes[..., 1::2] << 4, scale, factor


def as_modelopt_nvfp4(matrix: Tensor) -> dict[str, Tensor]:
    packed, scale, factor = nvfp4(matrix)
    parts = {"weight": packed, "weight_scale": scale, "weight_scale_2": factor}
    return parts | {"input_scale": torch.tensor(1.0)}


def as_compressed_nvfp4(matrix: Tensor) -> dict[str, Tensor]:
    packed, scale, factor = nvfp4(matrix)
    parts = {"weight_packed": packed, "weight_scale": scale}
    return parts | {"weight_global_scale": (1 / factor).reshape(1), "input_global_scale": factor}


def as_modelopt_fp8(matrix: Tensor) -> dict[str, Tensor]:
    scale = matrix.abs().max() / 448
    return {"weight": (matrix / scale).to(FLOAT8), "weight_scale": scale}


def as_compressed_fp8(matrix: Tensor) -> dict[str, Tensor]:
    weight, scale = to_float8(matrix)
    return {"weight": weight, "weight_scale": scale[:, None]}


def as_compressed_int4(matrix: Tensor) -> dict[str, Tensor]:
    groups = matrix.unflatten(-1, (-1, 32))
    scale = groups.abs().amax(-1) / 7
    codes = ((groups / scale[..., None]).round() + 8).flatten(-2).to(torch.int64)
    shifted = codes.unflatten(-1, (-1, 8)) << torch.arange(0, 32, 4)
    packed = shifted.sum(-1).to(torch.uint32).view(torch.int32)
    return {
        "weight_packed": packed,
        "weight_scale": scale,
        "weight_shape": torch.tensor(matrix.shape),
    }


def as_plain(matrix: Tensor) -> dict[str, Tensor]:
    return {"weight": matrix}


FORMS: Mapping[str, Callable[[Tensor], dict[str, Tensor]]] = {
    "modelopt NVFP4": as_modelopt_nvfp4,
    "modelopt FP8": as_modelopt_fp8,
    "compressed-tensors NVFP4": as_compressed_nvfp4,
    "compressed-tensors FP8": as_compressed_fp8,
    "compressed-tensors W4A16": as_compressed_int4,
    "a tensor each": as_plain,
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint in float32 as transformers writes it; its widths are multiples of 32."""
    from transformers import DiffusionGemmaForBlockDiffusion

    folder = tmp_path_factory.mktemp("plain")
    save_tiny_tokenizer(folder)
    config = tiny_config(canvas_length=16, vocab_size=320)
    config.text_config.update({"intermediate_size": 64, "moe_intermediate_size": 32})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        DiffusionGemmaForBlockDiffusion(config).eval().save_pretrained(folder)
    return folder


def is_large(name: str) -> bool:
    """Whether a published checkpoint has a matrix of this name in few bits."""
    return ".mlp." in name and name.endswith("_proj.weight") and "vision" not in name


def rewritten(plain: Path, folder: Path, form: Callable[[Tensor], dict[str, Tensor]]) -> Path:
    """Write a checkpoint with large matrices and each expert in a form of their own."""
    shutil.copytree(plain, folder)
    tensors: dict[str, Tensor] = {}
    for name, tensor in load_file(plain / "model.safetensors").items():
        path, _, part = name.rpartition(".")
        if part in ("gate_up_proj", "down_proj") and path.endswith(".experts"):
            for number, matrix in enumerate(tensor):
                halves = matrix.chunk(2) if part == "gate_up_proj" else (matrix,)
                words = ("gate", "up") if part == "gate_up_proj" else ("down",)
                for word, half in zip(words, halves, strict=True):
                    for key, stored in form(half).items():
                        tensors[f"{path}.{number}.{word}_proj.{key}"] = stored.clone()
        elif is_large(name):
            tensors |= {f"{path}.{key}": stored for key, stored in form(tensor).items()}
        else:
            tensors[name] = tensor
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    save_file(contiguous, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def read(folder: Path) -> Any:
    return read_model(folder, weight_files(folder), device=CPU, dtype=torch.float32)


@torch.no_grad()
def logits_of(model: Any) -> Tensor:
    ids, canvas = torch.arange(5, 40)[None], torch.arange(50, 66)[None]
    logits: Tensor = model(input_ids=ids, decoder_input_ids=canvas).logits
    return logits


def reference(plain: Path, folder: Path, form: Callable[[Tensor], dict[str, Tensor]]) -> Any:
    """Return transformers' own model with the numbers that the form keeps of each matrix."""
    from transformers import DiffusionGemmaForBlockDiffusion

    def kept(matrix: Tensor) -> Tensor:
        stored = {key: it for key, it in form(matrix).items() if not key.startswith("input_")}
        if (numbers := low_bit_numbers("a matrix", stored)) is None:
            return matrix
        return LowBitMatrix(*numbers)(torch.eye(matrix.shape[1])).T

    shutil.copytree(plain, folder)
    tensors = load_file(plain / "model.safetensors")
    for name, tensor in tensors.items():
        if name.endswith(".experts.gate_up_proj"):
            halves = [torch.cat([kept(half) for half in matrix.chunk(2)]) for matrix in tensor]
            tensors[name] = torch.stack(halves)
        elif name.endswith(".experts.down_proj"):
            tensors[name] = torch.stack([kept(matrix) for matrix in tensor])
        elif is_large(name):
            tensors[name] = kept(tensor).contiguous()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return DiffusionGemmaForBlockDiffusion.from_pretrained(folder, dtype=torch.float32).eval()


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_checkpoint_says_what_its_numbers_say(form, plain: Path, tmp_path: Path) -> None:
    found = logits_of(read(rewritten(plain, tmp_path / "packed", form)))
    expected = logits_of(reference(plain, tmp_path / "unpacked", form))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_a_plain_checkpoint_is_read_to_the_bit_and_without_pictures(plain, tmp_path) -> None:
    from transformers import DiffusionGemmaForBlockDiffusion

    theirs = DiffusionGemmaForBlockDiffusion.from_pretrained(plain, dtype=torch.float32).eval()
    ours = read(plain)
    assert logits_of(ours).equal(logits_of(theirs))
    assert not [name for name, _ in ours.named_parameters() if "vision" in name]
    tensors = load_file(plain / "model.safetensors")
    text = {name: it for name, it in tensors.items() if "vision" not in name}
    assert len(text) < len(tensors)
    shutil.copytree(plain, tmp_path / "text")
    save_file(text, tmp_path / "text" / "model.safetensors", metadata={"format": "pt"})
    assert logits_of(read(tmp_path / "text")).equal(logits_of(theirs))


# -- refusals --------------------------------------------------------------------------------------

GATE = "model.decoder.layers.1.mlp.gate_proj"
EXPERT = "model.decoder.layers.0.experts.3.up_proj"


def without_a_scale(tensors: dict[str, Tensor]) -> None:
    tensors[f"{GATE}.weight"] = tensors[f"{GATE}.weight"].to(FLOAT8)


def with_blocks_of_scales(tensors: dict[str, Tensor]) -> None:
    without_a_scale(tensors)
    tensors[f"{GATE}.weight_scale_inv"] = torch.ones(1, 1)


def with_a_zero_point(tensors: dict[str, Tensor]) -> None:
    matrix = tensors.pop(f"{GATE}.weight")
    tensors |= {f"{GATE}.{key}": stored for key, stored in as_compressed_int4(matrix).items()}
    tensors[f"{GATE}.weight_zero_point"] = torch.zeros(8, 1, dtype=torch.int32)


def in_eight_bits(tensors: dict[str, Tensor]) -> None:
    matrix = tensors[f"{GATE}.weight"]
    tensors[f"{GATE}.weight"] = matrix.to(torch.int8)
    tensors[f"{GATE}.weight_scale"] = torch.ones(len(matrix), 1)


def as_gptq(tensors: dict[str, Tensor]) -> None:
    del tensors[f"{GATE}.weight"]
    tensors[f"{GATE}.qweight"] = torch.zeros(4, 64, dtype=torch.int32)


def without_an_expert(tensors: dict[str, Tensor]) -> None:
    del tensors[f"{EXPERT}.weight"]


def with_a_narrow_expert(tensors: dict[str, Tensor]) -> None:
    for number in range(4):
        for part in ("gate", "up"):
            name = f"model.decoder.layers.0.experts.{number}.{part}_proj.weight"
            tensors[name] = tensors[name][:, :16].contiguous()


def with_one_expert_in_few_bits(tensors: dict[str, Tensor]) -> None:
    matrix = tensors.pop(f"{EXPERT}.weight")
    tensors |= {f"{EXPERT}.{key}": stored for key, stored in as_modelopt_fp8(matrix).items()}


def with_the_name_of_a_method(tensors: dict[str, Tensor]) -> None:
    tensors |= {"model.decoder.forward": torch.ones(4), f"{GATE}.bias": torch.ones(4)}


def with_an_unknown_tensor(tensors: dict[str, Tensor]) -> None:
    tensors["model.decoder.layers.0.mlp.extra.weight"] = torch.ones(4)


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (without_a_scale, "numbers in torch.float8_e4m3fn without a scale"),
        (with_blocks_of_scales, "without a scale"),
        (with_a_zero_point, "quantised in an unknown way .*weight_zero_point.*in bfloat16"),
        (in_eight_bits, "quantised in an unknown way"),
        (as_gptq, "quantised in an unknown way .*qweight"),
        (without_an_expert, r"lacks 1 tensors \(.*experts.3.up_proj"),
        (with_a_narrow_expert, "its config says"),
        (with_one_expert_in_few_bits, "some experts of .* are quantised, others not"),
        (with_the_name_of_a_method, "has 2 tensors that are no DiffusionGemma's"),
        (with_an_unknown_tensor, "no DiffusionGemma's"),
    ],
)
def test_what_cannot_be_read_right_is_refused(spoil, match, plain: Path, tmp_path: Path) -> None:
    folder = rewritten(plain, tmp_path / "spoilt", as_plain)
    tensors = load_file(folder / "model.safetensors")
    spoil(tensors)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=match):
        read(folder)


@pytest.mark.parametrize(
    ("quantization", "program"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "bitsandbytes"),
        ({"quant_method": "awq", "bits": 4}, "awq"),
        ({"quant_method": "auto-round", "bits": 4}, "auto-round"),
        ({"quant_method": "gptq", "bits": 4}, "gptq"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8"),
        ({"bits": 4}, "an unknown program"),
        ("int8", "an unknown program"),
    ],
)
def test_what_another_program_quantised_is_refused_before_it_is_read(quantization, program, plain):
    config = {**read_config(plain), "quantization_config": quantization}
    with pytest.raises(ModelError, match=f"quantised by {program}, .* take the model in bfloat16"):
        family_of(config, "here")


@pytest.mark.parametrize(
    "quantization",
    [
        {"quant_method": "modelopt", "quant_algo": "NVFP4"},
        {"producer": {"name": "modelopt"}, "quant_algo": "FP8"},
        {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"},
    ],
)
def test_what_is_read_is_not_refused_by_its_config(quantization, plain, tmp_path) -> None:
    config = {**read_config(plain), "quantization_config": quantization}
    assert family_of(config, "here") == "diffusion_gemma"
    folder = rewritten(plain, tmp_path / "packed", as_modelopt_nvfp4)
    (folder / "config.json").write_text(json.dumps(config))
    assert logits_of(read(folder)).isfinite().all()
