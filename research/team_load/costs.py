"""What fills cost an engine: measured samples, from which a simulation draws."""

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec

from intarsia.engine.families.masked_causal.backbone.chunks import SHORT_CHUNK
from intarsia.engine.ipc.messages import Filled
from intarsia_research.errors import EvaluationFault


class FillCost(msgspec.Struct, frozen=True, kw_only=True):
    """One fill: chunks of context that it reads, then forward passes. Times are in milliseconds."""

    num_chunks: int
    chunk_ms: float
    num_passes: int
    pass_ms: float

    @property
    def chunks_ms(self) -> Sequence[float]:
        """What reading runs between two points where another fill may run."""
        return [self.chunk_ms] * self.num_chunks

    @property
    def passes_ms(self) -> Sequence[float]:
        """The same of writing."""
        return [self.pass_ms] * self.num_passes


class EngineCosts(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of one engine: where the context is held, and at places that were never read."""

    machine: str
    warm: tuple[FillCost, ...]
    new_place: tuple[FillCost, ...]

    def drawn(self, chosen: random.Random, *, is_new_place: bool) -> FillCost:
        """Return one sample."""
        return chosen.choice(self.new_place if is_new_place else self.warm)


def cost_of(filled: Filled) -> FillCost:
    """Return what an answered fill has cost. Nothing else may have run."""
    num_chunks = -(-filled.num_prefilled // SHORT_CHUNK)
    return FillCost(
        num_chunks=num_chunks,
        chunk_ms=filled.ms.prefill / max(1, num_chunks),
        num_passes=filled.num_forwards,
        pass_ms=filled.ms.denoise / max(1, filled.num_forwards),
    )


def read_costs(path: Path) -> EngineCosts:
    """Read a file of ``as_json``. Raises EvaluationFault."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=EngineCosts)
    except (OSError, msgspec.DecodeError) as error:
        raise EvaluationFault(f"{path} has no costs of fills: {error}") from error


def as_json(costs: EngineCosts) -> bytes:
    """Return the file's content."""
    return msgspec.json.format(msgspec.json.encode(costs), indent=1)
