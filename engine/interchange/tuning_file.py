"""A tuning of ours as pairs by matrix: read from its safetensors file and written to one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from intarsia.engine.errors import ModelError
from intarsia.engine.families.lora import LowRank
from intarsia.engine.families.masked_causal.backbone.shape import JoinedMatrix, read_shape
from intarsia.engine.families.masked_causal.backbone.tuning import NAMES_IN_FILE
from intarsia.engine.interchange.output import new_file
from intarsia.engine.model_store.checkpoint import is_run_by_transformers
from intarsia.engine.model_store.locate import ModelFolder


def tunable_matrices(folder: ModelFolder) -> dict[str, JoinedMatrix]:
    """Return all matrices that a tuning of this model changes, by their names in its file.

    Their modules are by the full path. Raises ModelError if none can be changed.
    """
    if folder.family == "masked_causal" and is_run_by_transformers(folder.config):
        raise ModelError(f"{folder.name} cannot have a tuning: only Llama's and Qwen's shapes can")
    if folder.family == "diffusion_gemma":
        return _gemma_matrices(folder.path)
    shape = read_shape(folder.config)
    return {
        f"{NAMES_IN_FILE[part]}{layer}": JoinedMatrix(
            {f"model.layers.{layer}.{path}": num_out for path, num_out in matrix.modules.items()},
            matrix.num_in,
        )
        for layer in range(shape.num_layers)
        for part, matrix in shape.matrices().items()
    }


def _gemma_matrices(path: Path) -> dict[str, JoinedMatrix]:
    """Return the decoder's matrices. The encoder has the same weights."""
    # transformers takes seconds to import: only where it is used
    from intarsia.engine.families.diffusion_gemma.load import layers_without_weights

    return {
        name: JoinedMatrix({f"model.{name}": linear.out_features}, linear.in_features)
        for name, (linear, *_) in layers_without_weights(path).items()
    }


def in_torch(pair: LowRank) -> LowRank:
    """Return a pair of NumPy arrays as torch tensors."""
    return LowRank(down=torch.from_numpy(pair.down), up=torch.from_numpy(pair.up))


def sum_of(pairs: Sequence[LowRank]) -> LowRank:
    """Return one pair that changes its matrix by the sum of these; the ranks add up."""
    return LowRank(
        down=torch.cat([pair.down for pair in pairs]),
        up=torch.cat([pair.up for pair in pairs], dim=1),
    )


def stack_rows(pairs: Mapping[str, LowRank], matrix: JoinedMatrix) -> LowRank:
    """Return the pair of a matrix whose modules have these pairs; the others are not changed.

    Modules with the same ``down`` share its rank, as those of an own tuning do. Otherwise each has
    columns of its own in ``up``, which are zero in the rows of the others.
    """
    own = [pairs.get(module) for module in matrix.modules]
    downs: list[Tensor] = []
    starts = [0 if pair is None else _start_of(pair.down, downs) for pair in own]
    down = torch.cat(downs) if downs else torch.zeros(0, matrix.num_in)
    up = torch.zeros(matrix.num_out, len(down))
    first = 0
    for pair, start, size in zip(own, starts, matrix.modules.values(), strict=True):
        if pair is not None:
            up[first : first + size, start : start + pair.rank] = pair.up
        first += size
    return LowRank(down=down, up=up)


def without_idle_ranks(pair: LowRank) -> LowRank:
    """Leave out the components that add nothing, because one of their factors is zero."""
    is_used = pair.down.any(dim=1) & pair.up.any(dim=0)
    return LowRank(down=pair.down[is_used], up=pair.up[:, is_used])


def widened(pair: LowRank, rank: int) -> LowRank:
    """Return the same change with a higher rank: the further components are zero."""
    missing = rank - pair.rank
    return LowRank(
        down=torch.nn.functional.pad(pair.down, (0, 0, 0, missing)),
        up=torch.nn.functional.pad(pair.up, (0, missing)),
    )


def scaled(pair: LowRank, factor: float) -> LowRank:
    """Return the pair with ``up`` times a factor, rounded to float32 once."""
    return LowRank(down=pair.down, up=(pair.up.double() * factor).float())


def exact_tensors(pairs: Mapping[str, LowRank], down: str, up: str) -> dict[str, Tensor]:
    """Return the numbers by names such as ``A.{}``, in bfloat16 if it holds each, else float32."""
    tensors = {
        half.format(name): tensor
        for name, pair in pairs.items()
        for half, tensor in ((down, pair.down), (up, pair.up))
    }
    is_exact = all(torch.equal(it.bfloat16().float(), it) for it in tensors.values())
    dtype = torch.bfloat16 if is_exact else torch.float32
    return {name: it.to(dtype, copy=True).contiguous() for name, it in tensors.items()}


def _start_of(down: Tensor, downs: list[Tensor]) -> int:
    """Return the first rank of ``down`` among those stacked so far; it is added if it is new."""
    start = 0
    for other in downs:
        if torch.equal(other, down):
            return start
        start += len(other)
    downs.append(down)
    return start


def write_tuning(pairs: Mapping[str, LowRank], path: Path, *, metadata: Mapping[str, str]) -> None:
    """Write a tuning of exactly these numbers. Raises OutputError."""
    with new_file(path) as partial:
        tensors = exact_tensors(pairs, "A.{}", "B.{}")
        save_file(tensors, partial, metadata={"kind": "tuning", **metadata})
