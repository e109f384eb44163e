"""Read a causal backbone's weights from safetensors: mapped in our layout, else fused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from safetensors import SafetensorError

from intarsia.engine.arrays import Array, floats, namespace
from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape
from intarsia.engine.model_store.mapped import map_tensors

Tensors: TypeAlias = Mapping[str, Callable[[], Array]]
"""Names of tensors, each with what reads it."""

_Get: TypeAlias = Callable[[str], Array | None]

_HUGGING_FACE = ("model.embed_tokens.weight", "lm_head.weight", "model.norm.weight")


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LayerWeights:
    """The weights of one layer; a bias or norm that the model lacks is None."""

    attn_norm: Array
    qkv: Array
    qkv_bias: Array | None
    q_norm: Array | None
    k_norm: Array | None
    o: Array
    mlp_norm: Array
    gate_up: Array
    down: Array


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Embeddings:
    """Both matrices, perhaps mapped from a file."""

    embed: Array  # (vocab, hidden)
    output: Array  # (vocab, hidden)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class BackboneWeights:
    """All layers, the last norm and the embeddings; tied embeddings are one tensor."""

    embed: Array  # (vocab, hidden)
    output: Array  # (vocab, hidden)
    norm: Array  # (hidden,)
    layers: tuple[LayerWeights, ...]

    @property
    def embeddings(self) -> Embeddings:
        return Embeddings(embed=self.embed, output=self.output)


def read_weights(
    files: Sequence[Path],
    shape: BackboneShape,
    *,
    is_fused: bool,
    open_files: Callable[[Sequence[Path]], Tensors] = map_tensors,
) -> BackboneWeights:
    """Read the weights, mapped as NumPy arrays unless ``open_files`` gives others.

    Raises ModelError if a tensor is missing or has the wrong shape.
    """
    read_layer = _fused_layer if is_fused else _hugging_face_layer
    names = ("embed", "output", "norm") if is_fused else _HUGGING_FACE
    try:
        tensors = open_files(files)

        def get(name: str) -> Array | None:
            return tensors[name]() if name in tensors else None

        embed, output = _require(get, names[0]), get(names[1])
        weights = BackboneWeights(
            embed=embed,
            output=embed if output is None else output,
            norm=_require(get, names[2]),
            layers=tuple(
                LayerWeights(**read_layer(get, i, shape)) for i in range(shape.num_layers)
            ),
        )
    except (OSError, SafetensorError, ValueError) as error:
        raise ModelError(f"the weights cannot be read ({error}): fetch the model again") from error
    _check(weights, shape)
    return weights


NORMS = {
    "attn_norm": "input_layernorm",
    "mlp_norm": "post_attention_layernorm",
    "q_norm": "self_attn.q_norm",
    "k_norm": "self_attn.k_norm",
}
"""Hugging Face's names of a layer's norms."""

_OPTIONAL = ("qkv_bias", "q_norm", "k_norm")


def _require(get: _Get, name: str) -> Array:
    tensor = get(name)
    if tensor is None:
        raise ModelError(f"the weights lack the tensor {name}: the folder is incomplete")
    return tensor


def _part(get: _Get, part: str, name: str) -> Array | None:
    return get(name) if part in _OPTIONAL else _require(get, name)


def _fused_layer(get: _Get, i: int, shape: BackboneShape) -> dict[str, Any]:
    names = [field.name for field in fields(LayerWeights)]
    return {name: _part(get, name, f"layers.{i}.{name}") for name in names}


def _hugging_face_layer(get: _Get, i: int, shape: BackboneShape) -> dict[str, Any]:
    at, matrices = f"model.layers.{i}", shape.matrices()
    if get(bias := f"{at}.self_attn.o_proj.bias") is not None:
        raise ModelError(f"{bias} in the weights is not supported: use a plain Llama model")
    norms = {name: _part(get, name, f"{at}.{module}.weight") for name, module in NORMS.items()}
    joined: dict[str, Array] = {
        name: _join([_require(get, f"{at}.{one}.weight") for one in matrix.modules], matrix.num_in)
        for name, matrix in matrices.items()
    }
    found = (get(f"{at}.{module}.bias") for module in matrices["qkv"].modules)
    biases = [bias.reshape(-1) for bias in found if bias is not None]
    return {**norms, **joined, "qkv_bias": _concat(biases) if biases else None}


def _join(parts: list[Array], width: int) -> Array:
    """Concatenate the rows of matrices that have the same input, in float32 if formats differ."""
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        _check_size("a matrix", part, (part.shape[0] if part.ndim else 0, width))
    return _concat(parts)


def _concat(parts: list[Array]) -> Array:
    if len({part.dtype for part in parts}) > 1:
        parts = [floats(part) for part in parts]
    return namespace(*parts).concat(parts)


def _check(weights: BackboneWeights, shape: BackboneShape) -> None:
    matrices = shape.matrices()
    outer = {
        "embed": (shape.vocab_size, shape.hidden),
        "output": (shape.vocab_size, shape.hidden),
        "norm": (shape.hidden,),
    }
    vectors = {
        "attn_norm": (shape.hidden,),
        "mlp_norm": (shape.hidden,),
        "qkv_bias": (matrices["qkv"].num_out,),
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
        for part, matrix in matrices.items():
            _check_size(f"layer {i} {part}", getattr(layer, part), (matrix.num_out, matrix.num_in))


def _check_size(name: str, tensor: Array, size: tuple[int, ...]) -> None:
    if tuple(tensor.shape) != size:
        raise ModelError(
            f"the weights do not fit config.json: {name} is {tuple(tensor.shape)}, needed {size}"
        )


def _require_numbers(name: str, vector: Array) -> None:
    """Raise ModelError for a norm or bias that is not finite; matrices take too long to read."""
    if not bool(namespace(vector).isfinite(floats(vector)).all()):
        raise ModelError(f"the weights are damaged ({name} is not finite): fetch the model again")
