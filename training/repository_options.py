"""What a tuning to a repository is trained on, and for how long. Imports no torch."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryOptions:
    """What to train on, from which model, and for how long: minutes, tokens or both limits."""

    root: Path
    model: str
    minutes: float | None
    tokens: int | None
    rank: int
    rate: float
    holes_per_pass: int
    holes_per_file: int
    seed: int
