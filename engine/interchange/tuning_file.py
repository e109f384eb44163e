"""A tuning of ours as pairs by matrix: read from its safetensors file and written to one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import misfit, read_tensors
from intarsia.engine.families.masked_causal.backbone.adapter import part_sizes
from intarsia.engine.families.masked_causal.backbone.shape import BackboneShape, read_shape
from intarsia.engine.interchange.output import new_file
from intarsia.engine.model_store.checkpoint import is_run_by_transformers
from intarsia.engine.model_store.locate import ModelFolder


@dataclass(frozen=True, kw_only=True, slots=True)
class Module:
    """A linear layer: its path in Hugging Face's model, and the number of its outputs."""

    path: str
    num_out: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TunableMatrix:
    """One matrix of ours, ``A.<name>`` and ``B.<name>`` in a tuning, and the modules it joins."""

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
    from intarsia.engine.families.diffusion_gemma.load import tunable_layers

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
    from transformers import DiffusionGemmaConfig, DiffusionGemmaForBlockDiffusion

    try:
        config = DiffusionGemmaConfig.from_pretrained(path, local_files_only=True)
        with torch.device("meta"):
            return DiffusionGemmaForBlockDiffusion(config)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as fault:
        reason = " ".join(str(fault).split())
        raise ModelError(f"{path / 'config.json'} is no DiffusionGemma's: {reason}") from fault


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Pair:
    """The two factors, in float32 in main memory."""

    down: Tensor  # (rank, in)
    up: Tensor  # (out, rank)

    @property
    def rank(self) -> int:
        return self.down.shape[0]


def sum_of(pairs: Sequence[Pair]) -> Pair:
    """Return one pair that changes its matrix by the sum of these; the ranks add up."""
    return Pair(
        down=torch.cat([pair.down for pair in pairs]),
        up=torch.cat([pair.up for pair in pairs], dim=1),
    )


def split_rows(pair: Pair, sizes: Sequence[int]) -> list[Pair]:
    """Return a pair for each block of rows of the matrix; ``sizes`` are their numbers of rows."""
    return [Pair(down=pair.down, up=up) for up in torch.split(pair.up, list(sizes))]


def stack_rows(pairs: Sequence[Pair | None], sizes: Sequence[int], num_in: int) -> Pair:
    """Return the pair of a matrix that has these blocks of rows; None: a block is not changed.

    Blocks with the same ``down`` share its rank, as those of an own tuning do. Otherwise each has
    columns of its own in ``up``, which are zero in the rows of the others.
    """
    downs: list[Tensor] = []
    starts: list[int] = []  # where each block's columns begin
    for pair in pairs:
        starts.append(0 if pair is None else _start_of(pair.down, downs))
    down = torch.cat(downs) if downs else torch.zeros(0, num_in)
    up = torch.zeros(sum(sizes), len(down))
    first = 0
    for pair, start, size in zip(pairs, starts, sizes, strict=True):
        if pair is not None:
            up[first : first + size, start : start + pair.rank] = pair.up
        first += size
    return Pair(down=down, up=up)


def without_idle_ranks(pair: Pair) -> Pair:
    """Leave out the components that add nothing, because one of their factors is zero."""
    is_used = pair.down.any(dim=1) & pair.up.any(dim=0)
    return Pair(down=pair.down[is_used], up=pair.up[:, is_used])


def widened(pair: Pair, rank: int) -> Pair:
    """Return the same change with a higher rank: the further components are zero."""
    missing = rank - pair.rank
    return Pair(
        down=torch.nn.functional.pad(pair.down, (0, 0, 0, missing)),
        up=torch.nn.functional.pad(pair.up, (0, missing)),
    )


def scaled(pair: Pair, factor: float) -> Pair:
    """Return the pair with ``up`` times a factor, rounded to float32 once."""
    return Pair(down=pair.down, up=(pair.up.double() * factor).float())


def exact_dtype(pairs: Sequence[Pair]) -> torch.dtype:
    """Return bfloat16 if it holds every number exactly, else float32."""
    tensors = [tensor for pair in pairs for tensor in (pair.down, pair.up)]
    is_exact = all(torch.equal(tensor.bfloat16().float(), tensor) for tensor in tensors)
    return torch.bfloat16 if is_exact else torch.float32


def _start_of(down: Tensor, downs: list[Tensor]) -> int:
    """Return the first rank of ``down`` among those stacked so far; it is added if it is new."""
    start = 0
    for other in downs:
        if torch.equal(other, down):
            return start
        start += len(other)
    downs.append(down)
    return start


_CPU = torch.device("cpu")


def read_tuning(path: Path, matrices: Sequence[TunableMatrix]) -> dict[str, Pair]:
    """Return the pair of each matrix, by our name. Raises ModelError if the file does not fit."""
    tensors = read_tensors(path, dtype=torch.float32, device=_CPU)
    if "mask" in tensors:
        raise ModelError(
            f"{path} is an adapter that drafts, which other programs cannot run: give a tuning"
        )
    needed = {f"{half}.{matrix.name}" for matrix in matrices for half in "AB"}
    if odd := sorted(needed ^ tensors.keys()):
        has = "lacks" if odd[0] in needed else "holds"
        raise ModelError(f"{path} is no tuning of this model: it {has} {odd[0]}")
    pairs = {}
    for matrix in matrices:
        pair = Pair(down=tensors[f"A.{matrix.name}"], up=tensors[f"B.{matrix.name}"])
        if problem := misfit(pair.down, pair.up, matrix.num_in, matrix.num_out):
            raise ModelError(f"{path} is no tuning of this model: {matrix.name} {problem}")
        pairs[matrix.name] = pair
    return pairs


def write_tuning(pairs: Mapping[str, Pair], path: Path, *, metadata: Mapping[str, str]) -> None:
    """Write a tuning of exactly these numbers. Raises OutputError."""
    dtype = exact_dtype(list(pairs.values()))
    tensors = {}
    for name, pair in pairs.items():
        tensors[f"A.{name}"] = pair.down.to(dtype, copy=True).contiguous()
        tensors[f"B.{name}"] = pair.up.to(dtype, copy=True).contiguous()
    with new_file(path) as partial:
        save_file(tensors, partial, metadata={"kind": "tuning", **metadata})
