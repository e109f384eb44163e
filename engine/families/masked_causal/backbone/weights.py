"""Read a causal backbone's weights from safetensors: mapped in our layout, else fused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape

GetTensor = Callable[[str], Tensor | None]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LayerWeights:
    """The weights of one layer; a bias or norm that the model lacks is None."""

    attn_norm: Tensor
    qkv: Tensor
    qkv_bias: Tensor | None
    q_norm: Tensor | None
    k_norm: Tensor | None
    o: Tensor
    mlp_norm: Tensor
    gate_up: Tensor
    down: Tensor


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BackboneWeights:
    """All layers, the last norm and the embeddings; tied embeddings are one tensor."""

    embed: Tensor  # (vocab, hidden)
    output: Tensor  # (vocab, hidden)
    norm: Tensor  # (hidden,)
    layers: tuple[LayerWeights, ...]


def read_weights(
    files: Sequence[Path],
    shape: BackboneShape,
    *,
    is_fused: bool,
    dtype: torch.dtype,
    device: torch.device,
) -> BackboneWeights:
    """Read the weights. Raises ModelError if a tensor is missing or has the wrong shape."""
    try:
        tensors = _open_all(files)

        def get(name: str) -> Tensor | None:
            return tensors[name]().to(device, dtype) if name in tensors else None

        weights = _read_fused(get, shape) if is_fused else _read_hugging_face(get, shape)
    except (OSError, SafetensorError) as error:
        raise ModelError(f"the weights cannot be read ({error}): fetch the model again") from error
    _check(weights, shape)
    return weights


def _open_all(files: Sequence[Path]) -> dict[str, Callable[[], Tensor]]:
    """Map every file; a tensor is a view of the file until it is converted."""
    tensors: dict[str, Callable[[], Tensor]] = {}
    for path in files:
        file: Any = safe_open(path, framework="pt")
        tensors |= {name: partial(file.get_tensor, name) for name in file.keys()}  # noqa: SIM118
    return tensors


def _require(get: GetTensor, name: str) -> Tensor:
    tensor = get(name)
    if tensor is None:
        raise ModelError(f"the weights lack the tensor {name}: the folder is incomplete")
    return tensor


def _read_fused(get: GetTensor, shape: BackboneShape) -> BackboneWeights:
    def layer(i: int) -> LayerWeights:
        at = f"layers.{i}"
        return LayerWeights(
            attn_norm=_require(get, f"{at}.attn_norm"),
            qkv=_require(get, f"{at}.qkv"),
            qkv_bias=get(f"{at}.qkv_bias"),
            q_norm=get(f"{at}.q_norm"),
            k_norm=get(f"{at}.k_norm"),
            o=_require(get, f"{at}.o"),
            mlp_norm=_require(get, f"{at}.mlp_norm"),
            gate_up=_require(get, f"{at}.gate_up"),
            down=_require(get, f"{at}.down"),
        )

    embed, output = _require(get, "embed"), get("output")
    return BackboneWeights(
        embed=embed,
        output=embed if output is None else output,
        norm=_require(get, "norm"),
        layers=tuple(layer(i) for i in range(shape.num_layers)),
    )


def _read_hugging_face(get: GetTensor, shape: BackboneShape) -> BackboneWeights:
    def layer(i: int) -> LayerWeights:
        at = f"model.layers.{i}"
        if get(bias := f"{at}.self_attn.o_proj.bias") is not None:
            raise ModelError(f"{bias} in the weights is not supported: use a plain Llama model")
        qkv = [f"{at}.self_attn.{part}_proj" for part in "qkv"]
        return LayerWeights(
            attn_norm=_require(get, f"{at}.input_layernorm.weight"),
            qkv=_join([_require(get, f"{name}.weight") for name in qkv], shape.hidden),
            qkv_bias=_join_biases([get(f"{name}.bias") for name in qkv]),
            q_norm=get(f"{at}.self_attn.q_norm.weight"),
            k_norm=get(f"{at}.self_attn.k_norm.weight"),
            o=_require(get, f"{at}.self_attn.o_proj.weight"),
            mlp_norm=_require(get, f"{at}.post_attention_layernorm.weight"),
            gate_up=_join(
                [_require(get, f"{at}.mlp.{part}_proj.weight") for part in ("gate", "up")],
                shape.hidden,
            ),
            down=_require(get, f"{at}.mlp.down_proj.weight"),
        )

    embed, output = _require(get, "model.embed_tokens.weight"), get("lm_head.weight")
    return BackboneWeights(
        embed=embed,
        output=embed if output is None else output,
        norm=_require(get, "model.norm.weight"),
        layers=tuple(layer(i) for i in range(shape.num_layers)),
    )


def _join(parts: list[Tensor], width: int) -> Tensor:
    """Concatenate the rows of matrices that have the same input."""
    for part in parts:
        _check_size("a matrix", part, (part.shape[0] if part.dim() else 0, width))
    return torch.cat(parts)


def _join_biases(parts: list[Tensor | None]) -> Tensor | None:
    biases = [part.flatten() for part in parts if part is not None]
    return torch.cat(biases) if biases else None


def _check(weights: BackboneWeights, shape: BackboneShape) -> None:
    heads = (shape.num_heads + 2 * shape.num_kv_heads) * shape.head_dim
    outer = {
        "embed": (shape.vocab_size, shape.hidden),
        "output": (shape.vocab_size, shape.hidden),
        "norm": (shape.hidden,),
    }
    vectors = {
        "attn_norm": (shape.hidden,),
        "mlp_norm": (shape.hidden,),
        "qkv_bias": (heads,),
        "q_norm": (shape.head_dim,),
        "k_norm": (shape.head_dim,),
    }
    for name, size in outer.items():
        _check_size(name, getattr(weights, name), size)
    _require_numbers("norm", weights.norm)
    for i, layer in enumerate(weights.layers):
        for name, size in vectors.items():
            if (tensor := getattr(layer, name)) is not None:
                _check_size(f"layer {i} {name}", tensor, size)
                _require_numbers(f"layer {i} {name}", tensor)
        _check_size(f"layer {i} qkv", layer.qkv, (heads, shape.hidden))
        _check_size(f"layer {i} o", layer.o, (shape.hidden, shape.num_heads * shape.head_dim))
        _check_size(f"layer {i} gate_up", layer.gate_up, (2 * shape.intermediate, shape.hidden))
        _check_size(f"layer {i} down", layer.down, (shape.hidden, shape.intermediate))


def _check_size(name: str, tensor: Tensor, size: tuple[int, ...]) -> None:
    if tuple(tensor.shape) != size:
        raise ModelError(
            f"the weights do not fit config.json: {name} is {tuple(tensor.shape)}, needed {size}"
        )


def _require_numbers(name: str, vector: Tensor) -> None:
    """Raise ModelError for a norm or bias that is not finite; matrices take too long to read."""
    if not bool(torch.isfinite(vector).all()):
        raise ModelError(f"the weights are damaged ({name} is not finite): fetch the model again")
