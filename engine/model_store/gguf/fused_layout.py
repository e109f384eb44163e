"""Plan our own layout of a causal backbone: which tensors it has, from which of a GGUF file.

Matrices with the same input are joined by rows, so that the file can be mapped into memory and used
without a copy. Knows names and shapes, no weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from intarsia.engine.errors import ModelError

FUSED_FORMAT = "intarsia-fused-1"


@dataclass(frozen=True, kw_only=True, slots=True)
class FusedTensor:
    """One tensor to write: the rows of ``sources``, in order."""

    name: str
    shape: tuple[int, ...]
    sources: tuple[str, ...]


def fused_tensors(
    shapes: Mapping[str, tuple[int, ...]],
    config: Mapping[str, Any],
    *,
    embed: str,
    output: str | None,
) -> list[FusedTensor]:
    """Return the tensors to write, in order. Raises ModelError if one is missing or unknown.

    ``shapes`` are those of the GGUF file, ``embed`` and ``output`` the names of two tensors in it;
    ``output`` is None if the output matrix is tied to the embedding.
    """
    plan = [_fuse(shapes, "embed", embed)]
    if output is not None:
        plan.append(_fuse(shapes, "output", output))
    plan.append(_fuse(shapes, "norm", "output_norm.weight"))
    for layer in range(config["num_hidden_layers"]):
        plan.extend(_layer(shapes, layer))
    used = {source for tensor in plan for source in tensor.sources} | {
        "output.weight",
        "token_embd.weight",
    }
    if unknown := sorted(set(shapes) - used):
        raise ModelError(
            f"the GGUF file has the unknown tensor {unknown[0]}: use a model of a plain shape"
        )
    return plan


def _layer(shapes: Mapping[str, tuple[int, ...]], layer: int) -> list[FusedTensor]:
    old, new = f"blk.{layer}", f"layers.{layer}"
    plan = [
        _fuse(shapes, f"{new}.attn_norm", f"{old}.attn_norm.weight"),
        _fuse(shapes, f"{new}.qkv", *(f"{old}.attn_{part}.weight" for part in "qkv")),
    ]
    if f"{old}.attn_q.bias" in shapes:
        plan.append(
            _fuse(shapes, f"{new}.qkv_bias", *(f"{old}.attn_{part}.bias" for part in "qkv"))
        )
    plan += [
        _fuse(shapes, f"{new}.{part}_norm", f"{old}.attn_{part}_norm.weight")
        for part in "qk"
        if f"{old}.attn_{part}_norm.weight" in shapes
    ]
    return [
        *plan,
        _fuse(shapes, f"{new}.o", f"{old}.attn_output.weight"),
        _fuse(shapes, f"{new}.mlp_norm", f"{old}.ffn_norm.weight"),
        _fuse(shapes, f"{new}.gate_up", f"{old}.ffn_gate.weight", f"{old}.ffn_up.weight"),
        _fuse(shapes, f"{new}.down", f"{old}.ffn_down.weight"),
    ]


def _fuse(shapes: Mapping[str, tuple[int, ...]], name: str, *sources: str) -> FusedTensor:
    if missing := [source for source in sources if source not in shapes]:
        raise ModelError(
            f"the GGUF file lacks the tensor {missing[0]}: use a complete file of a causal model"
        )
    num_rows = sum(shapes[source][0] for source in sources)
    return FusedTensor(name=name, shape=(num_rows, *shapes[sources[0]][1:]), sources=sources)
