"""Which matrices of a model a tuning changes, under our names and under Hugging Face's.

We keep matrices with the same input as one, such as the queries, keys and values of a layer; other
programs know each by the path of its module in the model.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intarsia.engine.errors import ModelError
from intarsia.engine.families.masked_causal.backbone.adapter import part_sizes
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.model_store.family import is_run_by_transformers
from intarsia.engine.model_store.locate import ModelFolder


@dataclass(frozen=True, kw_only=True, slots=True)
class Module:
    """A linear layer: its path in Hugging Face's model, and the number of its outputs."""

    path: str
    num_out: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TunableMatrix:
    """One matrix of ours: a tuning's file has ``A.<name>`` and ``B.<name>``.

    ``modules`` are those that it joins, in the order of its rows.
    """

    name: str
    num_in: int
    modules: tuple[Module, ...]

    @property
    def num_out(self) -> int:
        return sum(module.num_out for module in self.modules)


def tunable_matrices(folder: ModelFolder) -> tuple[TunableMatrix, ...]:
    """Return all matrices that a tuning of this model changes. Raises ModelError if none can."""
    if folder.family == "masked_causal" and is_run_by_transformers(folder.config):
        raise ModelError(f"{folder.name} cannot have a tuning: only Llama's and Qwen's shapes can")
    if folder.family == "diffusion_gemma":
        return _gemma_matrices(folder.path)
    return _causal_matrices(read_shape(folder.config))


def _causal_matrices(shape: BackboneShape) -> tuple[TunableMatrix, ...]:
    heads, kv = shape.num_heads * shape.head_dim, shape.num_kv_heads * shape.head_dim
    modules = {
        "qkv": {"self_attn.q_proj": heads, "self_attn.k_proj": kv, "self_attn.v_proj": kv},
        "o": {"self_attn.o_proj": shape.hidden},
        "gu": {"mlp.gate_proj": shape.intermediate, "mlp.up_proj": shape.intermediate},
        "d": {"mlp.down_proj": shape.hidden},
    }
    return tuple(
        TunableMatrix(
            name=f"{part}{layer}",
            num_in=num_in,
            modules=tuple(
                Module(path=f"model.layers.{layer}.{path}", num_out=num_out)
                for path, num_out in modules[part].items()
            ),
        )
        for layer in range(shape.num_layers)
        for part, (num_in, _) in part_sizes(shape).items()
    )


def _gemma_matrices(path: Path) -> tuple[TunableMatrix, ...]:
    """Return the decoder's matrices. The encoder has the same weights."""
    from intarsia.engine.families.diffusion_gemma.tuning import tunable_layers

    return tuple(
        TunableMatrix(
            name=name,
            num_in=linear.in_features,
            modules=(Module(path=f"model.{name}", num_out=linear.out_features),),
        )
        for name, (linear, *_) in tunable_layers(_gemma_without_weights(path)).items()
    )


def _gemma_without_weights(path: Path) -> Any:
    """Return the model of a folder's config on torch's meta device: shapes, no numbers."""
    import torch
    from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion

    try:
        config = DiffusionGemmaConfig.from_pretrained(path, local_files_only=True)
        with torch.device("meta"):
            return DiffusionGemmaForBlockDiffusion(config)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as fault:
        reason = " ".join(str(fault).split())
        raise ModelError(f"{path / 'config.json'} is no DiffusionGemma's: {reason}") from fault
